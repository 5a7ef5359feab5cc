#include "report/changes.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "report/task.h"

namespace lehr::report {
namespace {

/// Workload, and a device's identity or name.
using Key = std::pair<std::string, std::string>;
using Tasks = std::map<Key, std::vector<const Task*>>;

Tasks tasks_by(const Document& document, std::size_t log, std::string DeviceFacts::* device) {
  Tasks tasks;
  for (const Task& task : document.tasks)
    if (task.log == log && task.best.us > 0)
      tasks[{task.workload, document.devices[task.device].*device}].push_back(&task);
  return tasks;
}

/// The ratio of times of two runs: what drifted between them is in it, and neither knows of the other.
Ratio ratio_of(const Time& from, const Time& to) {
  Ratio ratio;
  ratio.value = from.us / to.us;
  if (from.interval.known() && to.interval.known())
    ratio.interval = {from.interval.low / to.interval.high, from.interval.high / to.interval.low};
  return ratio;
}

ChangedTask compared(const Document& document, const Task* from, const Task* to) {
  const Task& either = to ? *to : *from;
  ChangedTask changed{.workload = either.workload, .short_text = either.short_text};
  changed.device = document.devices[either.device].name;
  if (from) changed.from_us = from->best.us;
  if (to) changed.to_us = to->best.us;
  changed.word = from ? "gone" : "new";
  if (!from || !to) return changed;
  changed.ratio = ratio_of(from->best, to->best);
  changed.word = word_of(changed.ratio, from->proven && to->proven);
  return changed;
}

}  // namespace

Change change_between(const Document& document, std::size_t from, std::size_t to) {
  Change change{.from = from, .to = to, .tasks = {}};
  const Tasks before = tasks_by(document, from, &DeviceFacts::identity);
  const Tasks before_by_name = tasks_by(document, from, &DeviceFacts::name);
  const Tasks after_by_name = tasks_by(document, to, &DeviceFacts::name);
  std::set<const Task*> found;
  for (const Task& task : document.tasks) {
    if (task.log != to || task.best.us <= 0) continue;
    const DeviceFacts& device = document.devices[task.device];
    const Task* old = nullptr;
    const Key name = {task.workload, device.name};
    if (const auto same = before.find({task.workload, device.identity}); same != before.end())
      old = same->second[0];
    else if (const auto like = before_by_name.find(name);
             like != before_by_name.end() && like->second.size() == 1 && after_by_name.at(name).size() == 1)
      old = like->second[0];
    found.insert(old);
    change.tasks.push_back(compared(document, old, &task));
  }
  for (const Task& task : document.tasks)
    if (task.log == from && task.best.us > 0 && !found.contains(&task))
      change.tasks.push_back(compared(document, &task, nullptr));
  std::ranges::stable_sort(change.tasks, {}, [](const ChangedTask& task) { return task.ratio.value; });
  return change;
}

}  // namespace lehr::report
