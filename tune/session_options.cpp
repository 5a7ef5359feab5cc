#include "tune/session_options.h"

#include <unistd.h>

#include <chrono>
#include <random>

#include "base/hash.h"
#include "base/version.h"
#include "measure/worker/backends.h"
#include "tune/stored_kernel.h"

namespace lehr {

std::string new_session_id() {
  std::random_device random;
  const auto now = std::chrono::system_clock::now().time_since_epoch().count();
  std::uint64_t high = hash_combine(static_cast<std::uint64_t>(now), static_cast<std::uint64_t>(getpid()));
  const std::uint64_t low = hash_combine(high, (std::uint64_t{random()} << 32) | random());
  high = hash_combine(low, random());
  return to_hex(high) + to_hex(low);
}

Record common_row(const Task& task, const SessionOptions& options, Database& log) {
  Record row;
  row.workload = task.problem.text;
  row.device = identity_of(task.device);
  row.target = name_of(task.device.limits.target);
  row.arch = task.device.limits.arch;
  row.session = options.session_id;
  row.session_began_unix_ms = options.began_unix_ms;
  row.seed = options.seed;
  row.tool_version = kVersion;
  row.device_hash = log.append(stored_device(task.device));
  return row;
}

RunSummary begun_summary(const std::string& text, double flops, const Device& device,
                         const SessionOptions& options) {
  RunSummary summary;
  summary.workload = text;
  summary.device = device.name;
  summary.identity = identity_of(device);
  summary.target = name_of(device.limits.target);
  summary.caches = cache_policy(device);
  summary.session = options.session_id;
  summary.strategy = options.strategy;
  summary.seed = options.seed;
  summary.flops = flops;
  return summary;
}

}  // namespace lehr
