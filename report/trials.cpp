#include "report/trials.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>
#include <utility>

#include "base/describe_json.h"
#include "base/text.h"
#include "costmodel/metrics.h"

namespace lehr::report {
namespace {

using nlohmann::json;

double seconds_between(std::int64_t from_unix_ms, std::int64_t to_unix_ms) {
  return std::max(0.0, (static_cast<double>(to_unix_ms) - static_cast<double>(from_unix_ms)) / 1000);
}

/// The predictions of a session's cost model for its timed trials, with the speeds of these trials.
struct Scored {
  std::vector<double> predicted, speed;
  json reported() const {
    constexpr std::size_t kLeast = 3;
    const bool enough = speed.size() >= kLeast;
    return {{"scored", speed.size()},
            {"spearman", enough ? json(spearman(predicted, speed)) : json()},
            {"pairs_right", enough ? json(near_pairwise_accuracy(predicted, speed)) : json()}};
  }
};

/// Returns the positions of the trials that are shown.
std::vector<std::size_t> chosen(std::span<const Record> records, std::int64_t most_others) {
  std::vector<std::size_t> taken, others;
  double best = INFINITY;
  std::set<FailureKind> kinds;
  for (std::size_t i = 0; i < records.size(); ++i) {
    const std::optional<double> time = records[i].time_us();
    const bool first = time ? *time < best : kinds.insert(std::get<Failure>(records[i].outcome).kind).second;
    if (time) best = std::min(best, *time);
    (first ? taken : others).push_back(i);
  }
  const std::size_t all = others.size(), most = static_cast<std::size_t>(most_others);
  const std::size_t wanted = most == 0 ? all : std::min(all, most);
  for (std::size_t i = 0; i < wanted; ++i) taken.push_back(others[i * all / wanted]);
  std::ranges::sort(taken);
  return taken;
}

/// Appends a trial's outcome to the columns.
void add_outcome(const Record& record, json& columns) {
  const auto* const timing = std::get_if<Timing>(&record.outcome);
  const auto* const failure = std::get_if<Failure>(&record.outcome);
  const Resources& resources = timing ? timing->resources : failure->resources;
  columns["time_us"].push_back(timing ? json(timing->time_us) : json());
  columns["run_s"].push_back(timing ? json(timing->run_s) : json());
  columns["spread"].push_back(timing ? json(timing->spread) : json());
  columns["failure"].push_back(failure ? json(name_of(failure->kind)) : json());
  columns["registers"].push_back(resources.registers);
  columns["spill_bytes"].push_back(resources.spill_bytes);
  columns["shared_bytes"].push_back(resources.shared_bytes);
  columns["compile_s"].push_back(resources.compile_s);
  columns["picked_by"].push_back(record.picked_by);
  columns["predicted"].push_back(record.predicted);
  columns["family"].push_back(record.config.family);
}

/// Appends a config to the columns of knobs, which have `before` rows.
void add_knobs(const Config& config, std::size_t before, json& trials) {
  json &knobs = trials["knobs"], &names = trials["names"][config.family];
  for (const KnobValue& knob : config.knobs) {
    if (std::ranges::find(names, json(knob.name)) == names.end()) names.push_back(knob.name);
    json& column = knobs[knob.name];
    while (column.size() < before) column.push_back(nullptr);
    column.push_back(knob.value);
  }
  for (json& column : knobs)
    if (column.size() == before) column.push_back(nullptr);
}

/// The times of a family's trials, grouped by the value of one knob.
using Groups = std::map<std::int64_t, std::vector<double>>;

/// Returns omega squared of log(time): the share of the variance that lies between the groups, minus the
/// share that is expected by chance for this number of groups.
double explained_by(const Groups& groups) {
  double count = 0, sum = 0, squares = 0, between = 0;
  for (const auto& [value, times] : groups) {
    double own = 0;
    for (const double time : times) {
      own += std::log(time);
      squares += std::log(time) * std::log(time);
    }
    count += static_cast<double>(times.size());
    sum += own;
    between += own * own / static_cast<double>(times.size());
  }
  const double extra = static_cast<double>(groups.size()) - 1;
  squares -= sum * sum / count;
  between -= sum * sum / count;
  if (extra < 1 || count <= extra + 1 || squares <= 1e-12) return 0;
  const double error = std::max(0.0, squares - between) / (count - extra - 1);
  return std::max(0.0, (between - extra * error) / (squares + error));
}

/// Returns the only knob in which two configs of a family differ; nullptr if they differ in no knob or in
/// several.
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
  std::map<std::string, Session> by_id;
  std::map<std::string, Scored> scored;
  for (const Record& record : records) {
    Session& session = by_id[record.session];
    if (session.reported.is_null()) session.reported = {{"id", record.session}, {"trials", 0}, {"timed", 0}};
    session.id = record.session;
    session.began_unix_ms = record.session_began_unix_ms;
    session.seconds +=
        std::visit([](const auto& outcome) { return outcome.resources.compile_s; }, record.outcome);
    if (const auto* timing = std::get_if<Timing>(&record.outcome)) session.seconds += timing->run_s;
    session.span =
        std::max(session.span, seconds_between(record.session_began_unix_ms, record.created_unix_ms));
    session.reported["seed"] = record.seed;
    ++session.reported["trials"].get_ref<json::number_integer_t&>();
    if (record.time_us()) ++session.reported["timed"].get_ref<json::number_integer_t&>();
    if (!record.time_us() || !record.predicted) continue;
    scored[record.session].predicted.push_back(*record.predicted);
    scored[record.session].speed.push_back(-*record.time_us());
  }
  std::vector<Session> sessions;
  for (auto& [id, session] : by_id) {
    const auto origin = origins.find(id);
    session.reported["merged_from"] = origin == origins.end() ? json() : json(origin->second);
    session.reported["began_unix_ms"] = session.began_unix_ms;
    session.reported.update(scored[id].reported());
    sessions.push_back(std::move(session));
  }
  std::ranges::stable_sort(sessions, {}, &Session::began_unix_ms);
  return sessions;
}

Timeline timeline_of(const std::vector<Session>& sessions) {
  Timeline timeline;
  double end = 0;
  for (const Session& session : sessions) {
    const double began = static_cast<double>(session.began_unix_ms) / 1000;
    const double ended = began + std::max(session.seconds, session.span);
    timeline.begins.push_back(timeline.seconds - std::max(0.0, end - began));
    timeline.seconds += std::max(0.0, ended - std::max(end, began));
    end = std::max(end, ended);
  }
  return timeline;
}

json trials_of(std::span<const Record> records, const std::vector<Session>& sessions,
               std::int64_t most_others) {
  const Timeline timeline = timeline_of(sessions);
  std::map<std::string, std::size_t> positions;
  for (std::size_t i = 0; i < sessions.size(); ++i) positions[sessions[i].id] = i;
  const std::vector<std::size_t> reported = chosen(records, most_others);
  json trials = {{"total", records.size()}, {"shown", reported.size()}, {"knobs", json::object()}};
  std::optional<double> best;
  for (std::size_t row = 0; row < reported.size(); ++row) {
    const Record& record = records[reported[row]];
    const std::size_t session = positions.at(record.session);
    const std::optional<double> time = record.time_us();
    if (time && *time < best.value_or(INFINITY)) best = time;
    trials["order"].push_back(reported[row] + 1);
    trials["session"].push_back(session);
    trials["seconds"].push_back(timeline.begins[session] +
                                seconds_between(record.session_began_unix_ms, record.created_unix_ms));
    trials["best_us"].push_back(best);
    add_outcome(record, trials);
    add_knobs(record.config, row, trials);
  }
  return trials;
}

json failures_of(std::span<const Record> records) {
  // Number of failures of a kind, and the first of them.
  std::map<FailureKind, std::pair<std::int64_t, const Record*>> kinds;
  for (const Record& record : records)
    if (const auto* const failure = std::get_if<Failure>(&record.outcome))
      ++kinds.try_emplace(failure->kind, 0, &record).first->second.first;
  std::vector<json> failures;
  for (const auto& [kind, found] : kinds)
    failures.push_back({{"kind", name_of(kind)},
                        {"count", found.first},
                        {"sentence", meaning_of(kind)},
                        {"example", printable_lines(std::get<Failure>(found.second->outcome).text)},
                        {"config", to_text(found.second->config)}});
  std::ranges::stable_sort(failures, std::ranges::greater{},
                           [](const json& each) { return each["count"].get<double>(); });
  return failures;
}

json knobs_of(std::span<const Record> records, const Config& winner) {
  std::vector<json> knobs;
  for (const KnobValue& at : winner.knobs) {
    Groups groups;
    for (const Record& record : records) {
      const std::optional<double> time = record.time_us();
      const std::optional<std::int64_t> value = record.config.find(at.name);
      if (time && value && record.config.family == winner.family) groups[*value].push_back(*time);
    }
    if (groups.size() < 2) continue;  // no other value of this knob was timed
    json values, best;
    for (const auto& [value, times] : groups) {
      values.push_back(value);
      best.push_back(std::ranges::min(times));
    }
    knobs.push_back({{"name", at.name},
                     {"importance", explained_by(groups)},
                     {"values", values},
                     {"best_us", best},
                     {"winner", at.value}});
  }
  std::ranges::stable_sort(knobs, std::ranges::greater{},
                           [](const json& each) { return each["importance"].get<double>(); });
  return knobs;
}

json neighbours_of(std::span<const Record> records, const Config& winner) {
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
  json neighbours = json::array();
  for (const auto& [changed, time] : times)
    neighbours.push_back({{"knob", changed.first},
                          {"from", winner.at(changed.first)},
                          {"to", changed.second},
                          {"time_us", time},
                          {"ratio", time / own}});
  return neighbours;
}

}  // namespace lehr::report
