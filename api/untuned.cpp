// Reports the untuned choice as text and as a document.
#include "api/untuned.h"

#include <fmt/format.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "api/device_names.h"
#include "api/sessions.h"
#include "base/describe_json.h"
#include "measure/core/format.h"
#include "tune/documents.h"
#include "tune/open_device.h"
#include "tune/task.h"
#include "tune/untuned.h"

namespace lehr::api {
namespace {

Task served_task(const Workload& workload, const DeviceOptions& options, bool winograd, std::string& note) {
  Task task =
      task_of(workload, identified_device(choice_of(options), workload, options.tools, note), winograd);
  const auto none = lehr::why_not_served(workload, task.device.limits, [](const std::string&) {});
  if (none) throw_not_found("{}", *none);
  return task;
}

/// Opens the log for reading; nullopt if there is no file.
std::optional<Database> log_at(const std::string& path) {
  if (!std::filesystem::exists(path)) return std::nullopt;
  return Database::open_read_only(path);
}

lehr::Untuned asked(const Task& task, const std::string& log, const TuneOptions& options) {
  const std::optional<Database> own = log_at(log), other = other_log(options);
  UntunedOptions wanted;
  if (own && !options.fresh) wanted.own = &*own;
  if (options.transfer != "off") wanted.others = other ? &*other : own ? &*own : nullptr;
  wanted.seed = options.seed;
  return lehr::untuned(task, candidates_for(task), wanted);
}

std::string text_of(const lehr::Untuned& found, const Task& task, const std::string& log) {
  std::string text;
  const auto line = [&](const char* name, const std::string& value) {
    text += fmt::format("{:<9} {}\n", name, value);
  };
  line("workload", task.problem.text);
  line("device", fmt::format("{} ({}, {} {})", task.device.name, task.device.limits.arch,
                             task.device.limits.cores, task.device.limits.target->core_word));
  line("config", to_text(found.config));
  line("from", fmt::format("the {}: {}", name_of(found.belief), found.source));
  const lehr::Time& expected = found.expected;
  line("expected",
       found.belief == Belief::kLog
           ? fmt::format("{}, as it was measured", format_time_us(expected))
           : fmt::format("{}; nine in ten such estimates were within {} to {}", format_time_us(expected.us),
                         format_time_us(expected.interval.low), format_time_us(expected.interval.high)));
  line("loss", fmt::format("at most {:.0f} % over the fastest that a search finds, in nine of ten cases that "
                           "were left out",
                           100 * found.loss));
  line("measured", "nothing, and nothing is stored");
  line("database", std::filesystem::exists(log) ? log : log + ", which is not there");
  return text;
}

}  // namespace

Untuned untuned(const Workload& wanted, const DeviceOptions& device, const std::string& log,
                const TuneOptions& options, nlohmann::json& document) {
  return guarded([&] {
    if (is_range(wanted))
      throw_user("'{}' is a range of rows: what its kernels lose is measured, not believed; ask for one size",
                 to_text(wanted));
    Untuned result;
    const Task task = served_task(wanted, device, options.winograd, result.note);
    const lehr::Untuned found = asked(task, log, options);
    result.text = text_of(found, task, log);
    document = UntunedDocument{found, task, log};
    return result;
  });
}

}  // namespace lehr::api
