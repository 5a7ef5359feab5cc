// A task's trials as a page tells them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "database/record.h"
#include "report/document.h"

namespace lehr::report {

/// The sessions that made these trials, by their beginning. `origins` is Database::origins().
std::vector<Session> sessions_of(std::span<const Record> records,
                                 const std::map<std::string, std::string>& origins);

/// The trials, which are in order of creation: those that were the fastest until then, the first of each kind
/// of failure, and of all others `most_others` that lie evenly between them (0: all). `sessions` are theirs.
Trials trials_of(std::span<const Record> records, const std::vector<Session>& sessions,
                 std::int64_t most_others);

/// By kind, the most frequent first.
std::vector<FailureCount> failures_of(std::span<const Record> records);

/// What the knobs of the winner's family did to the times of its trials, the most important first. The share
/// is omega squared of a one-way analysis of variance: knobs that the search moved together share what they
/// explain, and it does not know which of them it was.
std::vector<Knob> knobs_of(std::span<const Record> records, const Config& winner);

/// The fastest trial of each config that differs from the winner in one knob, and what it costs: the ratio to
/// the winner's fastest trial.
std::vector<Neighbour> neighbours_of(std::span<const Record> records, const Config& winner);

}  // namespace lehr::report
