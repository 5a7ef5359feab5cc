// Turns events into lines and passes them to a callback.
#include "api/progress.h"

#include <fmt/core.h>

#include <nlohmann/json.hpp>

#include "api/boundary.h"
#include "measure/core/format.h"

namespace lehr {

std::string failures_text(const std::map<FailureKind, int>& failed) {
  std::string text;
  for (const auto& [kind, count] : failed)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", name_of(kind), count);
  return text;
}

std::string busy_text(int disturbed, int timed) {
  if (2 * disturbed <= timed) return "";
  return fmt::format(
      "the machine was busy while {} of {} trials were timed, so that small differences may be wrong: end "
      "what "
      "else runs, or leave it a CPU with --threads, and tune again",
      disturbed, timed);
}

namespace {

std::string shared_text(const SharedProgress& shared) {
  if (shared.best_us <= 0) return "nothing timed yet";
  return fmt::format("all {} of {} workloads: {} {} their defaults", shared.known, shared.tasks,
                     format_time_us(shared.best_us), format_ratio(shared.default_us / shared.best_us));
}

const char* word_of(EventKind kind) {
  switch (kind) {
    case EventKind::kSetup:
      return "setup";
    case EventKind::kResumed:
      return "resumed";
    case EventKind::kTrial:
      return "trial";
    case EventKind::kNewBest:
      return "best";
    case EventKind::kFitted:
      return "fitted";
    case EventKind::kFinals:
      return "finals";
  }
  return "";
}

std::string json_line(const nlohmann::json& object) {
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

nlohmann::json known(double value) {
  return value > 0 ? nlohmann::json(value) : nlohmann::json();
}

}  // namespace

std::string progress_json(const Event& event) {
  const SharedProgress* shared = event.shared ? &*event.shared : nullptr;
  nlohmann::json object = {{"event", word_of(event.kind)},
                           {"note", event.note},
                           {"elapsed_s", event.elapsed_s},
                           {"eta_s", event.eta_s ? nlohmann::json(*event.eta_s) : nlohmann::json()},
                           {"measured", event.measured},
                           {"trial_limit", known(event.trial_limit)},
                           {"trials_per_s", event.trials_per_s},
                           {"best_us", known(shared ? shared->best_us : event.best.us)},
                           {"default_us", known(shared ? shared->default_us : event.default_us)},
                           {"gflops", known(event.best_gflops)},
                           {"failed", nlohmann::json::object()}};
  for (const auto& [kind, count] : event.failed) object["failed"][std::string(name_of(kind))] = count;
  if (shared) {
    object["tasks"] = shared->tasks;
    object["known"] = shared->known;
  }
  return json_line(object);
}

std::string progress_text(const Event& event) {
  std::string text;
  if (event.shared) {
    text = shared_text(*event.shared);
  } else if (event.best.us > 0) {
    text = fmt::format("best {} {:.1f} GFLOP/s", format_time_us(event.best), event.best_gflops);
    if (event.default_us > 0)
      text += fmt::format(" {} default", format_ratio(event.default_us / event.best.us));
  } else {
    text = "nothing timed yet";
  }
  text += fmt::format(", {}{} trials", event.measured,
                      event.trial_limit > 0 ? fmt::format("/{}", event.trial_limit) : "");
  if (event.measured > 0) text += fmt::format(", {:.1f}/s", event.trials_per_s);
  if (const std::string failed = failures_text(event.failed); !failed.empty()) text += ", failed: " + failed;
  text += ", " + format_seconds(event.elapsed_s);
  if (event.eta_s) text += ", ETA " + format_seconds(*event.eta_s);
  return text;
}

namespace api {
namespace {

/// Returns the kind that a callback gets. Tasks that share their time have too many turns for a line each, so
/// their events are all kTrial.
Progress::Kind kind_of(const Event& event) {
  if (event.shared) return Progress::Kind::kTrial;
  switch (event.kind) {
    case EventKind::kSetup:
      return Progress::Kind::kSetup;
    case EventKind::kResumed:
      return Progress::Kind::kResumed;
    case EventKind::kTrial:
      return Progress::Kind::kTrial;
    case EventKind::kNewBest:
      return Progress::Kind::kNewBest;
    case EventKind::kFitted:
      return Progress::Kind::kFitted;
    case EventKind::kFinals:
      return Progress::Kind::kFinals;
  }
  return Progress::Kind::kTrial;
}

}  // namespace

void Reporter::show(Event event) {
  if (!sink_) return;
  Progress progress;
  progress.kind = kind_of(event);
  const bool reported = progress.kind == Progress::Kind::kSetup || progress.kind == Progress::Kind::kResumed;
  progress.text = reported ? event.note : progress_text(event);
  progress.elapsed_s = event.elapsed_s;
  progress.left_s = event.eta_s;
  progress.trials = event.measured;
  progress.shared = event.shared.has_value();
  progress.best_us = event.shared ? event.shared->best_us : event.best.us;
  progress.default_us = event.shared ? event.shared->default_us : event.default_us;
  progress.json = progress_json(event);
  const std::lock_guard lock(mutex_);
  sink_(progress);
}

void Reporter::say(Progress::Kind kind, const std::string& text) {
  if (!sink_) return;
  Progress progress;
  progress.kind = kind;
  progress.text = text;
  progress.json = json_line({{"event", kind == Progress::Kind::kNote ? "note" : "step"}, {"note", text}});
  const std::lock_guard lock(mutex_);
  sink_(progress);
}

}  // namespace api
}  // namespace lehr
