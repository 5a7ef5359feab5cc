// Decides which process of a run on several nodes tunes which workloads: shares of a list that all of them
// compute equally, and the file that fixes them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/describe.h"

namespace lehr::cluster {

/// One of the shards of a run.
struct Shard {
  int index = 0;  ///< from 0
  int count = 1;
};
/// Reads "3/8". Throws Error(kUser).
Shard parse_shard(std::string_view text);
/// Returns "shard 3 of 8"; the first is shard 0.
std::string to_text(const Shard& shard);

inline constexpr int kMostShards = 10'000;

/// One workload of a list; equal ones are one item.
struct PlanItem {
  std::string workload;
  int shard = 0;
  double cost = 0;          ///< expected seconds, for balancing shards
  std::int64_t trials = 0;  ///< most trials; 0: no limit
  double seconds = 0;       ///< most seconds; 0: no limit
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
  /// The workload whose default every shard measures first: its times show which node is slow.
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

/// Gives each item a shard by its cost: the most expensive first, each to the shard that has least so far. No
/// shard costs more than the sum / count + the most expensive item. The result is the same everywhere for the
/// same items.
void share_out(std::span<PlanItem> items, int count);

/// Makes `mine` the plan of a folder, or takes the one that another process has put there. Returns the
/// folder's plan, which has the time when the run began. Throws Error(kUser) if it has another list, number
/// of shards or budget, Error(kEnvironment) if the folder cannot be written.
Plan settle_plan(const std::filesystem::path& folder, Plan mine);
/// Reads the plan of a folder. Throws Error(kUser) if it has no plan of ours.
Plan read_plan(const std::filesystem::path& folder);

}  // namespace lehr::cluster
