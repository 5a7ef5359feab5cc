// Describes the trials of a task as a page shows them.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <span>
#include <string>
#include <vector>

#include "database/record.h"
#include "report/document.h"

namespace lehr::report {

/// Returns the sessions that made these trials, ordered by their beginning. Keys of each: id, began_unix_ms,
/// seconds, seed, trials, timed, scored (number of timed trials with a prediction), spearman (rank
/// correlation of prediction and speed over these trials), pairs_right (share of rightly ordered pairs among
/// picks that are near each other; both are null if there are fewer than three trials), merged_from (null:
/// the session ran on this machine). `origins` is the result of Database::origins().
std::vector<Session> sessions_of(std::span<const Record> records,
                                 const std::map<std::string, std::string>& origins);

/// The time line of a page: sessions in the order of their beginning, which may overlap, without the time
/// between them. `begins` has the second at which each session begins, and `seconds` is the length of the
/// time line.
struct Timeline {
  std::vector<double> begins;
  double seconds = 0;
};
Timeline timeline_of(const std::vector<Session>& sessions);

/// Returns the trials to show as columns of equal length. `records` must be in order of creation. All trials
/// that were the fastest so far and the first of each kind of failure are shown, and `most_others` of the
/// others, evenly spread (0: all). `total` is the number of trials, `shown` the number of rows. Columns:
/// `order` counts trials from 1; `session` is a position in `sessions`; `seconds` is the time on the time
/// line (timeline_of()); `best_us` is the fastest time so far; `failure` is the kind of failure. `knobs` has
/// a column for each knob, with null if the trial's family lacks the knob. `names` has the names of each
/// family's knobs, in the order of its configs.
nlohmann::json trials_of(std::span<const Record> records, const std::vector<Session>& sessions,
                         std::int64_t most_others);

/// Returns the failures by kind, the most frequent kind first. Keys: kind, count, sentence (its meaning),
/// example and config (text and config of the first failure).
nlohmann::json failures_of(std::span<const Record> records);

/// Returns the effects of knobs on times, the most important knob first. It includes the knobs of the
/// winner's family of which several values were tried. Keys: name, importance, values (in ascending order),
/// best_us (the best time for each value), winner (the winner's value). The importance is omega squared of a
/// one-way analysis of variance of log(time): the share of the variance that the knob alone explains. If the
/// search changed several knobs together, their effects cannot be told apart.
nlohmann::json knobs_of(std::span<const Record> records, const Config& winner);

/// Returns the configs that differ from the winner in a single knob. Keys: knob, from, to, time_us (of the
/// config's fastest trial), ratio (to the time of the winner's fastest trial).
nlohmann::json neighbours_of(std::span<const Record> records, const Config& winner);

}  // namespace lehr::report
