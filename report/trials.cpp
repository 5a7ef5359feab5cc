#include "report/trials.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

#include "base/text.h"
#include "costmodel/metrics.h"

namespace lehr::report {
namespace {

double seconds_between(std::int64_t from_unix_ms, std::int64_t to_unix_ms) {
  return std::max(0.0, static_cast<double>(to_unix_ms - from_unix_ms) / 1000);
}

/// What a session's model believed of its timed trials, and how fast they were.
struct Scored {
  std::vector<double> predicted, speed;
};

/// Returns which of the trials are told.
std::vector<std::size_t> chosen(std::span<const Record> records, std::int64_t most_others) {
  std::vector<bool> told(records.size());
  std::int64_t others = 0;
  double best = INFINITY;
  std::set<FailureKind> kinds;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::optional<double> time = records[i].time_us();
    told[i] = time ? *time < best : kinds.insert(std::get<Failure>(records[i].outcome).kind).second;
    if (time) best = std::min(best, *time);
    others += !told[i];
  }
  const std::int64_t wanted = most_others == 0 ? others : std::min(others, most_others);
  std::vector<std::size_t> indices;
  std::int64_t other = 0;
  for (std::size_t i = 0; i < records.size(); ++i) {
    bool taken = told[i];
    if (!taken) {
      taken = (other + 1) * wanted / others != other * wanted / others;
      ++other;
    }
    if (taken) indices.push_back(i);
  }
  return indices;
}

const Resources& resources_of(const Record& record) {
  const auto* const timing = std::get_if<Timing>(&record.outcome);
  return timing ? timing->resources : std::get<Failure>(record.outcome).resources;
}

void add_outcome(const Record& record, Trials& trials) {
  const auto* const timing = std::get_if<Timing>(&record.outcome);
  const auto* const failure = std::get_if<Failure>(&record.outcome);
  trials.time_us.push_back(record.time_us());
  trials.failure.push_back(failure ? std::optional(std::string(name_of(failure->kind))) : std::nullopt);
  trials.run_s.push_back(timing ? std::optional(timing->run_s) : std::nullopt);
  trials.spread.push_back(timing ? std::optional(timing->spread) : std::nullopt);
  const Resources& resources = resources_of(record);
  trials.registers.push_back(resources.registers);
  trials.spill_bytes.push_back(resources.spill_bytes);
  trials.shared_bytes.push_back(resources.shared_bytes);
  trials.compile_s.push_back(resources.compile_s);
}

void add_knobs(const Config& config, Trials& trials) {
  const std::size_t before = trials.family.size();
  for (const KnobValue& knob : config.knobs) {
    auto& column = trials.knobs[knob.name];
    column.resize(before);
    column.push_back(knob.value);
  }
  for (auto& [name, column] : trials.knobs) column.resize(before + 1);
}

std::string sentence_of(FailureKind kind) {
  switch (kind) {
    case FailureKind::kLower:
      return "The template could not write the kernel: a fault of lehr's.";
    case FailureKind::kCompile:
      return "The compiler refused the source.";
    case FailureKind::kCompileTimeout:
      return "The compiler took longer than it may.";
    case FailureKind::kLaunch:
      return "The device refused to start the kernel.";
    case FailureKind::kTimeout:
      return "The kernel ran longer than it may, and was ended.";
    case FailureKind::kCrash:
      return "The process that ran the kernel died.";
    case FailureKind::kWrongResult:
      return "The output was not the reference's.";
    case FailureKind::kOutOfMemory:
      return "There was not enough memory.";
    case FailureKind::kRejected:
      return "It compiled, but breaks a rule (it spills registers), and was not run.";
    case FailureKind::kInterrupted:
      return "The compiler was ended from outside: this says nothing of the kernel.";
    case FailureKind::kImplausible:
      return "The output was right, but the time is shorter than the device can be.";
  }
  return "";
}

/// Times of the trials of a family, by the value of a knob.
using Groups = std::map<std::int64_t, std::vector<double>>;

/// Omega squared of log(time): the variance between the groups as a share of all, less what chance gives so
/// many groups.
double explained_by(const Groups& groups) {
  double count = 0, sum = 0, squares = 0, between = 0;
  for (const auto& [value, times] : groups) {
    double own = 0;
    for (const double time : times) own += std::log(time);
    count += static_cast<double>(times.size());
    sum += own;
    between += own * own / static_cast<double>(times.size());
  }
  const double mean = sum / count, extra = static_cast<double>(groups.size()) - 1;
  for (const auto& [value, times] : groups)
    for (const double time : times) squares += (std::log(time) - mean) * (std::log(time) - mean);
  between -= sum * mean;
  if (extra < 1 || count <= extra + 1 || squares <= 0) return 0;
  const double error = std::max(0.0, squares - between) / (count - extra - 1);
  return std::max(0.0, (between - extra * error) / (squares + error));
}

/// The one knob in which two configs of a family differ; nullptr: in none, or in several.
const KnobValue* only_difference(const Config& config, const Config& from) {
  const KnobValue* found = nullptr;
  if (config.family != from.family || config.knobs.size() != from.knobs.size()) return nullptr;
  for (std::size_t i = 0; i < config.knobs.size(); ++i) {
    if (config.knobs[i] == from.knobs[i]) continue;
    if (found != nullptr || config.knobs[i].name != from.knobs[i].name) return nullptr;
    found = &config.knobs[i];
  }
  return found;
}

}  // namespace

std::vector<Session> sessions_of(std::span<const Record> records,
                                 const std::map<std::string, std::string>& origins) {
  constexpr std::int64_t kLeastScored = 3;
  std::map<std::string, Session> by_id;
  std::map<std::string, Scored> scored;
  for (const Record& record : records) {
    Session& session = by_id[record.session];
    session.id = record.session;
    session.began_unix_ms = record.session_began_unix_ms;
    session.seed = record.seed;
    session.seconds =
        std::max(session.seconds, seconds_between(record.session_began_unix_ms, record.created_unix_ms));
    ++session.trials;
    session.timed += record.time_us().has_value();
    if (!record.predicted || !record.time_us()) continue;
    scored[record.session].predicted.push_back(*record.predicted);
    scored[record.session].speed.push_back(-*record.time_us());
  }
  std::vector<Session> sessions;
  for (auto& [id, session] : by_id) {
    session.scored = static_cast<std::int64_t>(scored[id].speed.size());
    if (session.scored >= kLeastScored) session.spearman = spearman(scored[id].predicted, scored[id].speed);
    if (const auto origin = origins.find(id); origin != origins.end()) session.merged_from = origin->second;
    sessions.push_back(std::move(session));
  }
  std::ranges::stable_sort(sessions, {}, &Session::began_unix_ms);
  return sessions;
}

Trials trials_of(std::span<const Record> records, const std::vector<Session>& sessions,
                 std::int64_t most_others) {
  Trials trials;
  std::map<std::string, std::size_t> position;
  std::vector<double> before(sessions.size());
  for (std::size_t i = 0; i < sessions.size(); ++i) {
    position[sessions[i].id] = i;
    if (i > 0) before[i] = before[i - 1] + sessions[i - 1].seconds;
  }
  const std::vector<std::size_t> told = chosen(records, most_others);
  trials.total = static_cast<std::int64_t>(records.size());
  trials.shown = static_cast<std::int64_t>(told.size());
  std::optional<double> best;
  for (const std::size_t index : told) {
    const Record& record = records[index];
    const std::size_t session = position.at(record.session);
    trials.order.push_back(static_cast<std::int64_t>(index) + 1);
    trials.session.push_back(session);
    trials.seconds.push_back(before[session] +
                             seconds_between(record.session_began_unix_ms, record.created_unix_ms));
    add_outcome(record, trials);
    if (const auto time = record.time_us(); time && *time < best.value_or(INFINITY)) best = time;
    trials.best_us.push_back(best);
    trials.picked_by.push_back(record.picked_by);
    trials.predicted.push_back(record.predicted);
    add_knobs(record.config, trials);
    trials.family.push_back(record.config.family);
  }
  return trials;
}

std::vector<FailureCount> failures_of(std::span<const Record> records) {
  std::vector<FailureCount> failures;
  for (const Record& record : records) {
    const auto* const failure = std::get_if<Failure>(&record.outcome);
    if (failure == nullptr) continue;
    const std::string kind(name_of(failure->kind));
    auto found = std::ranges::find(failures, kind, &FailureCount::kind);
    if (found == failures.end())
      found = failures.insert(found, {kind, 0, sentence_of(failure->kind), printable_lines(failure->text),
                                      to_text(record.config)});
    ++found->count;
  }
  std::ranges::stable_sort(failures, std::ranges::greater{}, &FailureCount::count);
  return failures;
}

std::vector<Knob> knobs_of(std::span<const Record> records, const Config& winner) {
  std::vector<Knob> knobs;
  for (const KnobValue& at : winner.knobs) {
    Groups groups;
    for (const Record& record : records) {
      const std::optional<double> time = record.time_us();
      const std::optional<std::int64_t> value = record.config.find(at.name);
      if (time && value && record.config.family == winner.family) groups[*value].push_back(*time);
    }
    if (groups.empty()) continue;
    Knob knob{.name = at.name, .importance = explained_by(groups), .winner = at.value};
    for (const auto& [value, times] : groups) {
      knob.values.push_back(value);
      knob.best_us.push_back(std::ranges::min(times));
    }
    knobs.push_back(std::move(knob));
  }
  std::ranges::stable_sort(knobs, std::ranges::greater{}, &Knob::importance);
  return knobs;
}

std::vector<Neighbour> neighbours_of(std::span<const Record> records, const Config& winner) {
  double own = INFINITY;
  std::map<std::pair<std::string, std::int64_t>, double> times;
  for (const Record& record : records) {
    const std::optional<double> time = record.time_us();
    if (!time) continue;
    if (record.config == winner) own = std::min(own, *time);
    const KnobValue* const knob = only_difference(record.config, winner);
    if (knob == nullptr) continue;
    const auto [found, is_new] = times.emplace(std::pair(knob->name, knob->value), *time);
    found->second = std::min(found->second, *time);
  }
  std::vector<Neighbour> neighbours;
  for (const auto& [changed, time] : times)
    neighbours.push_back({changed.first, winner.at(changed.first), changed.second, time, time / own});
  return neighbours;
}

}  // namespace lehr::report
