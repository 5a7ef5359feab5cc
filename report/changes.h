// The changes from one log to the next.
#pragma once

#include "report/document.h"

namespace lehr::report {

/// Compares the tasks of two logs, `from` and `to`. Tasks are the same if workload and device are equal; the
/// driver and the compiler may differ. If a log has several such tasks, the fastest counts. Returns for each
/// task `from_us` and `to_us` (null: the log has no time), `ratio` (from / to) with `ratio_interval`, and
/// `word`: the word of word_of(), "new" or "gone". The task with the largest loss comes first.
nlohmann::json change_between(const Document& document, std::size_t from, std::size_t to);

}  // namespace lehr::report
