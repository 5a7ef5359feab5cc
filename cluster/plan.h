// Decides, for a run on several nodes, which process tunes which workloads. All processes compute the same
// shares of a list, and a file fixes the shares for the run.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"

namespace lehr::cluster {

/// A shard of a run.
struct Shard {
  int index = 0;  ///< counted from 0
  int count = 1;
};
/// Reads "3/8". Throws Error(kUser).
Shard parse_shard(std::string_view text);
/// Returns "shard 3 of 8". The first shard is shard 0.
std::string to_text(const Shard& shard);

inline constexpr int kMostShards = 10'000;

/// A workload of the list. Equal workloads are one item.
struct PlanItem {
  std::string workload;
  int shard = 0;
  double cost = 0;          ///< expected seconds, for balancing shards
  std::int64_t trials = 0;  ///< upper limit of trials; 0: no limit
  double seconds = 0;       ///< upper limit of seconds; 0: no limit
  bool operator==(const PlanItem&) const = default;
};
void describe(auto& field, Is<PlanItem> auto& item) {
  field("workload", item.workload);
  field("shard", item.shard);
  field("cost", item.cost);
  field("trials", item.trials);
  field("seconds", item.seconds);
}

struct Plan {
  int shards = 1;
  /// The workload whose default kernel every shard measures first. Its times show which nodes are slow.
  std::string probe;
  double publish_every_s = 60;
  std::int64_t created_unix_ms = 0;
  std::vector<PlanItem> items;
};
void describe(auto& field, Is<Plan> auto& plan) {
  field("shards", plan.shards);
  field("probe", plan.probe);
  field("publish_every_s", plan.publish_every_s);
  field("created_unix_ms", plan.created_unix_ms);
  field("items", plan.items);
}

/// Assigns a shard to each item, so that the shards' costs are similar. In order of falling cost, each item
/// goes to the shard with the least cost so far. No shard costs more than (sum of all costs) / count + (cost
/// of the most expensive item). The result depends only on the items.
void share_out(std::span<PlanItem> items, int count);

/// Writes `mine` as the plan of a folder, unless another process has already written a plan. Returns the
/// folder's plan, which has the time when the run began. Throws Error(kUser) if the folder's plan has another
/// list, number of shards or budget than `mine`, and Error(kEnvironment) if the folder cannot be written.
Plan settle_plan(const std::filesystem::path& folder, Plan mine);
/// Reads the plan of a folder. Throws Error(kUser) if the folder has no valid plan.
Plan read_plan(const std::filesystem::path& folder);

}  // namespace lehr::cluster
