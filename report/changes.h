// The changes from one log to the next.
#pragma once

#include "report/document.h"

namespace lehr::report {

/// Compares the tasks of two logs, `from` and `to`, by workload and device. Another driver or compiler does
/// not matter; of several tasks the fastest counts. Reports for each `from_us`, `to_us` (null: not timed
/// there), `ratio` (from / to) with `ratio_interval`, and `word`: that of word_of(), "new" or "gone". The
/// largest loss comes first.
nlohmann::json change_between(const Document& document, std::size_t from, std::size_t to);

}  // namespace lehr::report
