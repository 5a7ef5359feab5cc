// What a page tells of logs and of networks that were applied: the document of `lehr report --json`.
// docs/report.md says what each section of the page shows.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/describe.h"
#include "base/describe_json.h"
#include "measure/core/outcome.h"
#include "tune/row_set.h"
#include "tune/summary.h"

namespace lehr::report {

/// One log. Times are milliseconds since 1970.
struct Log {
  std::string file = {};
  std::int64_t trials = 0, sessions = 0;
  std::vector<std::string> versions = {};  ///< of lehr
  std::int64_t began_unix_ms = 0, ended_unix_ms = 0;
  double seconds = 0;  ///< in which at least one session was running
};
void describe(auto& field, const Log& log) {
  field("file", log.file);
  field("trials", log.trials);
  field("sessions", log.sessions);
  field("versions", log.versions);
  field("began_unix_ms", Known{log.began_unix_ms});
  field("ended_unix_ms", Known{log.ended_unix_ms});
  field("seconds", log.seconds);
}

/// Where trials were measured.
struct DeviceFacts {
  std::string identity = {}, name = {}, target = {}, arch = {}, compiler = {}, driver = {}, os = {};
  friend bool operator==(const DeviceFacts&, const DeviceFacts&) = default;
};
void describe(auto& field, const DeviceFacts& device) {
  field("identity", device.identity);
  field("name", device.name);
  field("target", device.target);
  field("arch", Known{device.arch});
  field("compiler", Known{device.compiler});
  field("driver", Known{device.driver});
  field("os", Known{device.os});
}

/// A session's part in one task.
struct Session {
  std::string id = {};
  std::int64_t began_unix_ms = 0;
  double seconds = 0;  ///< that it took, until its last trial where its verdict does not say
  std::uint64_t seed = 0;
  std::string strategy = {};            ///< "": not known
  std::int64_t trials = 0, timed = 0;   ///< failures included; those with a time
  std::int64_t scored = 0;              ///< those with a time and a prediction
  std::optional<double> spearman = {};  ///< of prediction and speed; nullopt: fewer than three are scored
  std::string merged_from = {};         ///< "": it was run here
};
void describe(auto& field, const Session& session) {
  field("id", session.id);
  field("began_unix_ms", session.began_unix_ms);
  field("seconds", session.seconds);
  field("seed", session.seed);
  field("strategy", Known{session.strategy});
  field("trials", session.trials);
  field("timed", session.timed);
  field("scored", session.scored);
  field("spearman", session.spearman);
  field("merged_from", Known{session.merged_from});
}

/// Trials by columns of one length, in the order in which they were made.
struct Trials {
  std::int64_t total = 0, shown = 0;      ///< of the task; in the columns
  std::vector<std::int64_t> order = {};   ///< among all, from 1
  std::vector<std::size_t> session = {};  ///< position in Task::sessions
  std::vector<double> seconds = {};  ///< since the first session began, without what lay between sessions
  std::vector<std::optional<double>> time_us = {}, best_us = {};  ///< best_us: of all until then
  std::vector<std::optional<std::string>> failure = {};           ///< kind
  std::vector<std::string> picked_by = {}, family = {};
  std::vector<std::optional<double>> predicted = {};
  std::vector<std::optional<int>> registers = {}, spill_bytes = {}, shared_bytes = {};
  std::vector<double> compile_s = {};
  std::vector<std::optional<double>> run_s = {}, spread = {};
  std::map<std::string, std::vector<std::optional<std::int64_t>>> knobs =
      {};  ///< nullopt: the family has none
};
void describe(auto& field, const Trials& trials) {
  field("total", trials.total);
  field("shown", trials.shown);
  field("order", trials.order);
  field("session", trials.session);
  field("seconds", trials.seconds);
  field("time_us", trials.time_us);
  field("best_us", trials.best_us);
  field("failure", trials.failure);
  field("picked_by", trials.picked_by);
  field("family", trials.family);
  field("predicted", trials.predicted);
  field("registers", trials.registers);
  field("spill_bytes", trials.spill_bytes);
  field("shared_bytes", trials.shared_bytes);
  field("compile_s", trials.compile_s);
  field("run_s", trials.run_s);
  field("spread", trials.spread);
  field("knobs", trials.knobs);
}

/// What a knob of the winner's family did to times.
struct Knob {
  std::string name = {};
  double importance = 0;  ///< share of the variance of log(time) that its value alone explains
  std::vector<std::int64_t> values = {};  ///< that were timed, ascending
  std::vector<double> best_us = {};       ///< of each
  std::int64_t winner = 0;
};
void describe(auto& field, const Knob& knob) {
  field("name", knob.name);
  field("importance", knob.importance);
  field("values", knob.values);
  field("best_us", knob.best_us);
  field("winner", knob.winner);
}

/// A timed config that differs from the winner in one knob.
struct Neighbour {
  std::string knob = {};
  std::int64_t from = 0, to = 0;
  double time_us = 0, ratio = 0;  ///< of the two single trials' times
};
void describe(auto& field, const Neighbour& neighbour) {
  field("knob", neighbour.knob);
  field("from", neighbour.from);
  field("to", neighbour.to);
  field("time_us", neighbour.time_us);
  field("ratio", neighbour.ratio);
}

/// Trials that failed in one way.
struct FailureCount {
  std::string kind = {};
  std::int64_t count = 0;
  std::string sentence = {}, example = {}, config = {};  ///< what the kind means; of the first of them
};
void describe(auto& field, const FailureCount& failure) {
  field("kind", failure.kind);
  field("count", failure.count);
  field("sentence", failure.sentence);
  field("example", failure.example);
  field("config", failure.config);
}

struct RooflinePoint {
  std::string name = {};  ///< "best", "default", or a library's
  double gflops = 0;
  std::optional<double> share = {};  ///< of the lowest roof above it; nullopt: it is not known
};
void describe(auto& field, const RooflinePoint& point) {
  field("name", point.name);
  field("gflops", point.gflops);
  field("share", point.share);
}

struct RooflineFacts {
  double flops = 0, bytes = 0;          ///< bytes: that cross the memory's interface at least
  double gflops = 0, gbytes_per_s = 0;  ///< the device's most; 0: not known
  std::string bound = {};               ///< "arithmetic", "memory"; "": not known
  bool in_caches = false;               ///< all operands fit them, so that the memory bounds nothing
  std::vector<RooflinePoint> points = {};
};
void describe(auto& field, const RooflineFacts& roof) {
  field("flops", roof.flops);
  field("bytes", roof.bytes);
  field("intensity", roof.flops / roof.bytes);
  field("peak_gflops", Known{roof.gflops});
  field("peak_gbytes_per_s", Known{roof.gbytes_per_s});
  field("bound", Known{roof.bound});
  field("in_caches", roof.in_caches);
  field("points", roof.points);
}

/// A library in a contest.
struct Library {
  std::string name = {};
  Time time = {};                       ///< us 0: it has none
  Ratio speedup = {};                   ///< of the winner over it
  std::string note = {}, missing = {};  ///< how it was run; why it has no time
};
void describe(auto& field, const Library& library) {
  field("name", library.name);
  field("time_us", Known{library.time.us});
  field("time_us_interval", library.time.interval);
  field("speedup", Known{library.speedup.value});
  field("speedup_interval", library.speedup.interval);
  field("note", Known{library.note});
  field("missing", Known{library.missing});
}

/// Where seconds, or shares of a whole, went.
struct Part {
  std::string name = {};
  double amount = 0;
};

/// One workload on one device in one log.
struct Task {
  std::size_t log = 0, device = 0;
  std::string workload = {}, short_text = {};
  nlohmann::json winner = {};  ///< as `lehr best --json` has it; null: nothing was timed
  std::string vs_default,
      vs_library;       ///< "faster", "same", "slower", "unproven"; "": nothing to compare with
  bool proven = false;  ///< the winner has won finals
  Ratio over_default = {}, over_library = {};
  Time best = {}, default_time = {};
  double seconds = 0;
  std::vector<Library> libraries = {};  ///< of the newest contest
  std::vector<Session> sessions = {};
  Trials trials = {};
  std::vector<Knob> knobs = {};  ///< the most important first
  std::vector<Neighbour> neighbours = {};
  std::vector<FailureCount> failures = {};
  std::optional<RooflineFacts> roofline = {};
  std::vector<Part> phases = {};  ///< of the newest contest's session, in seconds
  std::optional<RowSet> rows = {};
};
void describe(auto& field, const Part& part) {
  field("name", part.name);
  field("seconds", part.amount);
}
void describe(auto& field, const Task& task) {
  field("log", task.log);
  field("device", task.device);
  field("workload", task.workload);
  field("short", task.short_text);
  field("winner", task.winner);
  field("vs_default", Known{task.vs_default});
  field("vs_library", Known{task.vs_library});
  field("seconds", task.seconds);
  field("default_us", Known{task.default_time.us});
  field("default_us_interval", task.default_time.interval);
  field("libraries", task.libraries);
  field("sessions", task.sessions);
  field("trials", task.trials);
  field("knobs", task.knobs);
  field("neighbours", task.neighbours);
  field("failures", task.failures);
  field("roofline", task.roofline);
  field("phases", task.phases);
  field("rows", task.rows);
  const auto losses = [&](auto& f) {
    f("measured", losses_of(task.rows->times).mean);
    f("held_out", losses_of(task.rows->held_out).mean);
    f("held_out_worst", losses_of(task.rows->held_out).worst);
  };
  field("losses", task.rows ? std::optional(Fields{losses}) : std::nullopt);
}

/// All places of a network with one workload.
struct Match {
  std::string workload = {}, short_text = {};
  std::optional<std::size_t> task = {};  ///< position in Document::tasks
  std::int64_t occurrences = 0, kernels = 0;
  double best_us = 0, default_us = 0, library_us = 0;  ///< of one place; 0: not known
  std::string library = {};
  double before_us = 0, after_us = 0;  ///< of all places, in the engine
};
void describe(auto& field, const Match& match) {
  field("workload", match.workload);
  field("short", match.short_text);
  field("task", match.task);
  field("occurrences", match.occurrences);
  field("kernels", match.kernels);
  field("best_us", Known{match.best_us});
  field("default_us", Known{match.default_us});
  field("library_us", Known{match.library_us});
  field("library", Known{match.library});
  field("before_us", match.before_us);
  field("after_us", match.after_us);
}

/// A network that `lehr apply` wrote: its document, and what logs know of its places.
struct Network {
  nlohmann::json applied = {};      ///< kAppliedDocument
  std::vector<Match> matches = {};  ///< those that took longest in the original first
  std::vector<Part> coverage = {};  ///< shares of the original's time: kernels, then what others still take
};
/// The document with the matches among its members.
void to_json(nlohmann::json& document, const Network& network);

/// A task in two logs.
struct ChangedTask {
  std::string workload = {}, short_text = {}, device = {};
  double from_us = 0, to_us = 0;  ///< 0: not timed there
  Ratio ratio = {};               ///< from / to, from two runs: its interval is as wide as theirs allow
  std::string word = {};          ///< "faster", "same", "slower", "unproven", "new", "gone"
};
void describe(auto& field, const ChangedTask& task) {
  field("workload", task.workload);
  field("short", task.short_text);
  field("device", task.device);
  field("from_us", Known{task.from_us});
  field("to_us", Known{task.to_us});
  field("ratio", Known{task.ratio.value});
  field("ratio_interval", task.ratio.interval);
  field("word", task.word);
}

/// What changed from a log to the next.
struct Change {
  std::size_t from = 0, to = 0;
  std::vector<ChangedTask> tasks = {};
};
void describe(auto& field, const Change& change) {
  field("from", change.from);
  field("to", change.to);
  field("tasks", change.tasks);
}

struct Document {
  std::string version = {};
  std::int64_t made_unix_ms = 0;
  std::int64_t most_others = 0;  ///< Request::most_others
  std::vector<Log> logs = {};
  std::vector<DeviceFacts> devices = {};
  std::vector<Task> tasks = {};  ///< by log, workload, device
  std::vector<Network> networks = {};
  std::vector<Change> changes = {};
  std::vector<std::string> notes = {};
};
void describe(auto& field, const Document& document) {
  field("lehr", document.version);
  field("made_unix_ms", document.made_unix_ms);
  field("most_others", document.most_others);
  field("logs", document.logs);
  field("devices", document.devices);
  field("tasks", document.tasks);
  field("networks", document.networks);
  field("changes", document.changes);
  field("notes", document.notes);
}

}  // namespace lehr::report
