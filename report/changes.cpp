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

/// A task in both logs; nullptr: it is not timed there.
struct Pair {
  const Task* from = nullptr;
  const Task* to = nullptr;
};

/// The ratio of times of two runs, whose interval is widened by what one kernel's times differ by from run to
/// run (tune/known_best.h).
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
  std::map<std::pair<std::string, std::string>, Pair> pairs;  // by workload, and identity up to the driver
  for (const Task& task : document.tasks) {
    if (task.best.us <= 0 || (task.log != from && task.log != to)) continue;
    const std::string& identity = task.where.identity;
    Pair& pair = pairs[{task.workload, identity.substr(0, identity.find(" | driver="))}];
    const Task*& side = task.log == from ? pair.from : pair.to;
    if (!side || task.best.us < side->best.us) side = &task;
  }
  std::multimap<double, json> tasks;
  for (const auto& [name, pair] : pairs)
    tasks.emplace(pair.from && pair.to ? pair.from->best.us / pair.to->best.us : 0,
                  compared(pair.from, pair.to));
  json told = {{"from", from}, {"to", to}, {"tasks", json::array()}};
  for (auto& [ratio, task] : tasks) told["tasks"].push_back(std::move(task));
  return told;
}

}  // namespace lehr::report
