#include "report/changes.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/describe_json.h"
#include "tune/known_best.h"
#include "tune/summary.h"
#include "workload/short_text.h"

namespace lehr::report {
namespace {

using nlohmann::json;

/// A task in the first log and in the second log; nullptr: the log has no time for it.
using Pair = std::pair<const Task*, const Task*>;

/// Returns the ratio of times from two runs. Its interval is widened, since the times of one kernel differ
/// from run to run (tune/known_best.h).
Ratio ratio_of(const Time& from, const Time& to) {
  const double value = from.us / to.us;
  if (!from.interval.known() || !to.interval.known()) return {value, {}};
  return {value,
          {from.interval.low / to.interval.high * (1 - kClearlyFaster),
           from.interval.high / to.interval.low * (1 + kClearlyFaster)}};
}

json compared(const Task* from, const Task* to) {
  const Task& either = to ? *to : *from;
  const Ratio ratio = from && to ? ratio_of(from->best, to->best) : Ratio{};
  return {{"workload", either.workload},
          {"short", short_text(either.workload)},
          {"device", either.where.name},
          {"from_us", from ? json(from->best.us) : json()},
          {"to_us", to ? json(to->best.us) : json()},
          {"ratio", known_or_null(ratio.value)},
          {"ratio_interval", ratio.interval},
          {"word", !from ? "new"
                   : !to ? "gone"
                         : word_of(ratio, from->proven && to->proven)}};
}

}  // namespace

json change_between(const Document& document, std::size_t from, std::size_t to) {
  std::map<std::pair<std::string, std::string>, Pair>
      pairs;  // key: workload; device's identity without driver and compiler, but with caches
  for (const Task& task : document.tasks) {
    if (task.best.us <= 0 || (task.log != from && task.log != to)) continue;
    const std::string& identity = task.where.identity;
    const std::string match = identity.substr(0, identity.find(" | driver="));
    Pair& pair = pairs[{task.workload, match + (identity.ends_with("cold caches") ? " cold" : "")}];
    const Task*& side = task.log == from ? pair.first : pair.second;
    if (!side || task.best.us < side->best.us) side = &task;
  }
  std::multimap<double, json> tasks;
  for (const auto& [name, pair] : pairs)
    tasks.emplace(pair.first && pair.second ? pair.first->best.us / pair.second->best.us : 0,
                  compared(pair.first, pair.second));
  json reported = {{"from", from}, {"to", to}, {"tasks", json::array()}};
  for (auto& [ratio, task] : tasks) reported["tasks"].push_back(std::move(task));
  return reported;
}

}  // namespace lehr::report
