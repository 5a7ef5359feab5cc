// The progress of a run on several nodes, by the files that its shards have published.
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
  kFailed,  ///< it ended with an error
};
/// Returns "waiting", "running", ...
std::string_view name_of(ShardState state);

/// One shard, by everything that its attempts have published. Times are those of rows.
struct ShardProgress {
  int shard = 0;
  ShardState state = ShardState::kWaiting;
  std::string problem;             ///< of a failed one: its process's message
  std::string node, device, uuid;  ///< of the newest attempt; uuid is a GPU's, else ""
  int attempts = 0;
  std::int64_t trials = 0;   ///< measured since the plan was made, each counted once
  std::int64_t planned = 0;  ///< most trials; 0: no limit
  int done = 0, items = 0;   ///< workloads with a proven verdict, and all
  double per_minute = 0;     ///< trials of the newest attempt; 0: not known
  double speedup = 0;        ///< over the defaults, geometric mean of the verdicts; 0: no verdict yet
  std::optional<double> left_s;
  double silent_s = 0;  ///< since its newest row
  double probe_us = 0;  ///< time of the plan's cheapest default on its node; 0: not measured
  /// That time as a multiple of the median of its device class; 0: not known.
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
  std::optional<double> left_s;  ///< of the shard that takes longest; nullopt: not known for each
  /// Sentences: slow nodes, GPUs that two shards share, files that cannot be read.
  std::vector<std::string> notes;
};
void describe(auto& field, Is<Survey> auto& survey) {
  field("shards", survey.shards);
  field("left_s", survey.left_s);
  field("notes", survey.notes);
}

/// A node is slow if its default takes this multiple of the median of its device class: times of one kernel
/// in different runs differed by up to 7 % on a virtual machine.
inline constexpr double kSlowNode = 1.1;

/// Reads the plan and all logs of a folder. Throws as read_plan().
Survey survey_of(const std::filesystem::path& folder, std::int64_t now_unix_ms);

}  // namespace lehr::cluster
