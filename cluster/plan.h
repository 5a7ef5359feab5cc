// Which process of a run on several nodes tunes what: shares of a list that all of them compute alike, and
// the file that holds them to it.
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
/// "shard 3 of 8", the first is shard 0.
std::string to_text(const Shard& shard);

inline constexpr int kMostShards = 10'000;

/// One workload of a list; equal ones are one item.
struct PlanItem {
  std::string workload;
  int shard = 0;
  double cost = 0;          ///< expected seconds, to balance shards by
  std::int64_t trials = 0;  ///< measured at most; 0: any number
  double seconds = 0;       ///< takes at most; 0: any time
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
  /// The workload whose default every shard measures first: the times tell which node is slow.
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

/// Gives each item a shard by its cost: the dearest first, each to the shard that has least so far. No shard
/// costs more than the sum / count + the dearest item. The same everywhere for the same items.
void share_out(std::span<PlanItem> items, int count);

/// Makes `mine` the plan of a folder, or finds it there, whoever was first. Returns the folder's, which says
/// when the run began. Throws Error(kUser) where another list, number of shards or budget is there,
/// Error(kEnvironment) where the folder cannot be written.
Plan settle_plan(const std::filesystem::path& folder, Plan mine);
/// Reads the plan of a folder. Throws Error(kUser) where that has no plan of ours.
Plan read_plan(const std::filesystem::path& folder);

}  // namespace lehr::cluster
