// From a row's device text to limits: see origin.h.
#include "replay/origin.h"

#include <algorithm>
#include <charconv>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

// Cache sizes of current server cores: features need some, the log stores none, and they must not depend on
// the machine that replays.
Limits cpu_limits(const std::string& arch, int cores) {
  Limits limits;
  limits.target = Target::kCpu;
  limits.arch = arch;
  limits.cores = cores;
  limits.vector_bytes = arch == "avx512" ? 64 : arch == "avx2" ? 32 : 16;
  limits.vector_registers = arch == "avx512" || arch == "neon" ? 32 : 16;
  limits.l1_bytes = 48 << 10;
  limits.l2_bytes = 2 << 20;
  limits.l3_bytes = 32 << 20;
  limits.peak_gflops_f32 = 2.0 * 2 * limits.vector_bytes / 4 * 2.5 * cores;  // two FMA units at 2.5 GHz
  limits.dram_gbytes_per_s = 20;
  return limits;
}

// The number in " | cores=2 | " of an identity (measure/core/device.h).
int cores_of(const std::string& identity) {
  int cores = 1;
  const std::size_t at = identity.find("cores=");
  if (at != std::string::npos)
    std::from_chars(identity.data() + at + 6, identity.data() + identity.size(), cores);
  return std::max(1, cores);
}

}  // namespace

std::string short_name(const std::string& identity) {
  const std::vector<std::string_view> parts = split(identity, '|');
  if (parts.size() < 4) return identity;
  std::string name(parts[1]);
  name = name.substr(std::min(name.size(), name.find_first_not_of(' ')));
  name.resize(name.find_last_not_of(' ') + 1);
  return fmt::format("{}, {} cores", name, cores_of(identity));
}

std::optional<TableOrigin> origin_of(const Record& row) {
  try {
    Limits limits = row.target == "cuda" ? cuda_limits(row.arch) : cpu_limits(row.arch, cores_of(row.device));
    limits.cores = cores_of(row.device);
    return TableOrigin{parse_workload(row.workload), limits};
  } catch (const Error&) {
    return std::nullopt;  // a workload or device of a newer version: its knobs remain
  }
}

}  // namespace lehr
