// A task's trials as a page shows them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "database/record.h"
#include "report/document.h"

namespace lehr::report {

/// Returns the sessions that made these trials, by their beginning: id, began_unix_ms, seconds, seed, trials,
/// timed, scored (timed with a prediction), spearman and pairs_right (of prediction and speed over all
/// `scored`, and over picks that are near each other; null: fewer than three), merged_from (null: it was run
/// here). `origins` is Database::origins().
std::vector<Session> sessions_of(std::span<const Record> records,
                                 const std::map<std::string, std::string>& origins);

/// Sessions by their beginning, without the time between them: where each begins, in seconds, and how long
/// all take together. They may overlap.
struct Timeline {
  std::vector<double> begins;
  double seconds = 0;
};
Timeline timeline_of(const std::vector<Session>& sessions);

/// Returns trials, which are in order of creation, as columns of one length: those that were the fastest
/// until then, the first of each kind of failure, and of all others `most_others` spread evenly between them
/// (0: all). `total` and `shown` count them. `order` is from 1; `session` is a position in `sessions`, which
/// are theirs; `seconds` are since the first session began (timeline_of()); `best_us` is that of all until
/// then; `failure` is a kind; `knobs` has a column for each knob, null if the family does not have it;
/// `names` has those of each family in the order of its configs.
nlohmann::json trials_of(std::span<const Record> records, const std::vector<Session>& sessions,
                         std::int64_t most_others);

/// Returns failures by kind, the most frequent first: kind, count, sentence (what it means), example and
/// config (of the first one).
nlohmann::json failures_of(std::span<const Record> records);

/// Returns the effects on times of the varied knobs of the winner's family, the most important first: name,
/// importance, values (ascending), best_us (of each), winner (its value). The importance is omega squared of
/// a one-way analysis of variance of log(time): the share that the knob alone explains. Knobs that the search
/// moved together share what they explain.
nlohmann::json knobs_of(std::span<const Record> records, const Config& winner);

/// Returns the configs that differ from the winner in one knob: knob, from, to, time_us (of the fastest
/// trial), ratio (to the winner's fastest trial).
nlohmann::json neighbours_of(std::span<const Record> records, const Config& winner);

}  // namespace lehr::report
