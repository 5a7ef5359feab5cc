// Reports the progress of a run on several nodes from the files that its shards have published.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"

namespace lehr::cluster {

enum class ShardState {
  kWaiting,  ///< nothing is published yet
  kRunning,
  kSilent,  ///< not done, and its newest row is older than three periods of publishing
  kDone,
  kFailed,  ///< the shard's process ended with an error
};
/// Returns "waiting", "running", ...
std::string_view name_of(ShardState state);

/// The progress of one shard, according to all files that its attempts have published.
struct ShardProgress {
  int shard = 0;
  ShardState state = ShardState::kWaiting;
  std::string problem;             ///< if the shard failed, the message of its process
  std::string node, device, uuid;  ///< where the newest attempt runs; uuid is "" unless the device is a GPU
  int attempts = 0;
  std::int64_t trials = 0;   ///< number of trials since the plan was made, each counted once
  std::int64_t planned = 0;  ///< most trials; 0: no limit
  int done = 0, items = 0;   ///< number of workloads with a proven verdict, and number of all
  double per_minute = 0;     ///< trials of the newest attempt per minute; 0: not known
  double speedup = 0;        ///< geometric mean of the verdicts' speedups over the default; 0: no verdict yet
  std::optional<double> left_s;
  double silent_s = 0;  ///< seconds since its newest row
  double probe_us = 0;  ///< time of the plan's probe on its node; 0: not measured
  /// probe_us as a multiple of the median over nodes with the same kind of device; 0: not known.
  double slowness = 0;
};
void describe(auto& field, Is<ShardProgress> auto& shard) {
  field("shard", shard.shard);
  field("state", std::string(name_of(shard.state)));
  field("problem", shard.problem);
  field("node", shard.node);
  field("device", shard.device);
  field("uuid", shard.uuid);
  field("attempts", shard.attempts);
  field("trials", shard.trials);
  field("planned", shard.planned);
  field("done", shard.done);
  field("items", shard.items);
  field("per_minute", shard.per_minute);
  field("speedup", shard.speedup);
  field("left_s", shard.left_s);
  field("silent_s", shard.silent_s);
  field("probe_us", shard.probe_us);
  field("slowness", shard.slowness);
}

struct Survey {
  std::vector<ShardProgress> shards;
  /// Seconds until the last shard is done; nullopt if this is not known for all shards.
  std::optional<double> left_s;
  /// Sentences: slow nodes, GPUs that two shards share, files that cannot be read.
  std::vector<std::string> notes;
};
void describe(auto& field, Is<Survey> auto& survey) {
  field("shards", survey.shards);
  field("left_s", survey.left_s);
  field("notes", survey.notes);
}

/// A node counts as slow if its ShardProgress::slowness is at least this. On a virtual machine the times of
/// one kernel differed by up to 7 % between runs.
inline constexpr double kSlowNode = 1.1;

/// Reads the plan and all logs of a folder, and returns the progress. Throws as read_plan() does.
Survey survey_of(const std::filesystem::path& folder, std::int64_t now_unix_ms);

}  // namespace lehr::cluster
