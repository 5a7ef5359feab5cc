#include "cluster/plan.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <numeric>
#include <random>

#include "base/args.h"
#include "base/describe_json.h"
#include "base/error.h"
#include "base/file_output.h"
#include "base/text.h"
#include "base/text_file.h"
#include "database/database.h"

namespace lehr::cluster {
namespace {

namespace fs = std::filesystem;

constexpr const char* kPlanFile = "plan.json";

}  // namespace

Shard parse_shard(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, '/');
  if (parts.size() != 2) throw_user("--shard {} is not valid: write I/N, such as 0/8", text);
  Shard shard;
  shard.count = static_cast<int>(parse_number("--shard I/N: N", parts[1], 1, kMostShards));
  shard.index = static_cast<int>(parse_number("--shard I/N: I", parts[0], 0, shard.count - 1));
  return shard;
}

std::string to_text(const Shard& shard) {
  return fmt::format("shard {} of {}", shard.index, shard.count);
}

void share_out(std::span<PlanItem> items, int count) {
  std::vector<std::size_t> order(items.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::stable_sort(order, std::greater(), [&](std::size_t i) { return items[i].cost; });
  std::vector<double> load(static_cast<std::size_t>(count), 0);
  for (const std::size_t item : order) {
    const auto least = std::ranges::min_element(load);
    *least += items[item].cost;
    items[item].shard = static_cast<int>(least - load.begin());
  }
}

Plan settle_plan(const fs::path& folder, Plan mine) {
  std::error_code error;
  fs::create_directory(folder, error);
  if (error) throw_environment("--publish {} cannot be made: {}", folder.string(), error.message());
  const std::string place = folder / kPlanFile;
  if (!fs::exists(place, error)) {
    mine.created_unix_ms = now_unix_ms();
    const std::string draft = folder / fmt::format(".plan-{:x}", std::random_device()());
    write_file(draft, nlohmann::json(mine).dump(1) + "\n");
    // Only one process can create the link, and its file is complete.
    const int failed = link(draft.c_str(), place.c_str()) == 0 ? 0 : errno;
    unlink(draft.c_str());
    if (failed != 0 && failed != EEXIST)
      throw_environment("{} cannot be made by a link: {}", place, std::strerror(failed));
  }
  Plan settled = read_plan(folder);
  if (settled.shards != mine.shards || settled.items != mine.items)
    throw_user(
        "{} is the plan of another list, another number of shards ({} in {}; this one has {} in {}), "
        "or another --trials or --time: name a new folder",
        place, settled.items.size(), settled.shards, mine.items.size(), mine.shards);
  return settled;
}

Plan read_plan(const fs::path& folder) {
  const std::string place = folder / kPlanFile;
  const std::string text = read_text_file(place, std::size_t{256} << 20, "plan of a run");
  try {
    auto plan = nlohmann::json::parse(text).get<Plan>();
    const auto here = [&](const PlanItem& item) { return item.shard >= 0 && item.shard < plan.shards; };
    if (plan.shards >= 1 && plan.shards <= kMostShards && std::ranges::all_of(plan.items, here)) return plan;
  } catch (const nlohmann::json::exception&) {
  }
  throw_user("{} is no plan of `lehr tune --publish`", place);
}

}  // namespace lehr::cluster
