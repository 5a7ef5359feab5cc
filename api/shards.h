// One shard of a list or a network, and what it publishes while it is tuned. For api/ and the command.
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

/// Computes the shares of a list from its workloads and options alone. Neither a device nor a log is asked,
/// so all nodes compute the same shares. `together`: the workloads are a network's and share the time of
/// their shard. Throws lehr::Error for options that are not valid.
cluster::Plan plan_of(const std::vector<Workload>& workloads, const TuneOptions& options, bool together);
/// Returns the workloads of the shard that the options name, in the order of the list.
std::vector<Workload> share_of(const std::vector<Workload>& workloads, const TuneOptions& options);

/// The run of one shard. Does nothing if the options have no `publish`.
class ShardRun {
 public:
  /// Settles the plan, takes over what earlier attempts at the shard have published, measures the plan's
  /// probe, and begins to publish. Throws lehr::Error.
  ShardRun(const cluster::Plan& plan, const TuneOptions& options, Device& device, Log& log,
           Reporter& reporter);
  ~ShardRun();

  /// Removes the workloads that an earlier attempt at the shard has finished, and notes how many.
  void leave_out_done(std::vector<Workload>& share);
  /// Publishes for the last time, and marks the shard as done unless the run was stopped. A result that
  /// cannot be published becomes a failure.
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

/// Returns the result of `call`, which has a code and a failure, after the run's end.
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
