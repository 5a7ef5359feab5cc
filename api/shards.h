// Tunes one shard of a list or a network, and publishes copies of the log meanwhile. Only for api/ and cli/.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/boundary.h"
#include "cluster/plan.h"
#include "cluster/publisher.h"

namespace lehr::api {

/// Divides a list of workloads among shards. The result depends only on the workloads and options, not on a
/// device or a log, so that all nodes compute the same plan. `together` is true for the workloads of a
/// network, which share the time of their shard. Throws lehr::Error for options that are not valid.
cluster::Plan plan_of(const std::vector<Workload>& workloads, const TuneOptions& options, bool together);
/// Returns the workloads of the shard that the options name, in the order of the list.
std::vector<Workload> share_of(const std::vector<Workload>& workloads, const TuneOptions& options);

/// The work of a shard before and after its tuning. It does nothing if TuneOptions::publish is empty.
class ShardRun {
 public:
  /// Agrees with the other shards on the plan, copies to the log the rows that earlier attempts at the shard
  /// have published, measures the plan's probe, and begins to publish. Throws lehr::Error.
  ShardRun(const cluster::Plan& plan, const TuneOptions& options, Device& device, Log& log,
           Reporter& reporter);
  ~ShardRun();

  /// Removes the workloads that an earlier attempt at the shard has finished. Reports the number of removed
  /// workloads as a note.
  void leave_out_done(std::vector<Workload>& share);
  /// Publishes for the last time, and marks the shard as done unless the run was stopped. If publishing
  /// fails, sets `code` and `failure`.
  void end(Code& code, std::string& failure);

 private:
  void take_over();
  void measure_probe(const std::string& text, const TuneOptions& options);

  Device& device_;
  Log& log_;
  Reporter& reporter_;
  std::filesystem::path folder_;
  cluster::PublishedName name_;
  std::string session_;
  std::int64_t plan_made_ms_ = 0;
  std::optional<cluster::Publisher> publisher_;
};

/// Calls `call`, ends the run, and returns the result of `call`. The result must have the members `code` and
/// `failure`.
template <typename Call>
auto published(ShardRun& run, Call&& call) {
  try {
    auto result = call();
    run.end(result.code, result.failure);
    return result;
  } catch (const lehr::Error& error) {
    Code code = code_of(error.kind());
    std::string failure = error.what();
    run.end(code, failure);
    throw;
  }
}

}  // namespace lehr::api
