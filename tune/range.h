// Tunes a range of rows: kernels with a number of rows as an argument, searched at several sizes, and the few
// of them that cover the range.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "database/record.h"
#include "database/row_set.h"
#include "tune/row_choice.h"
#include "tune/session.h"

namespace lehr {

struct RangeOptions {
  std::size_t kernels = 6;      ///< most kernels of the set
  bool saving_products = true;  ///< Task::saving_products
  /// Options of each search. Its limits of time and trials are for the whole run. There are no finals and no
  /// baselines. A size is added to `session_id`.
  SessionOptions session;
  std::function<void(const std::string&)> on_step;  ///< gets a sentence about the next step; may be empty
};

struct RangeSummary : RunSummary {
  std::optional<RowSet> set;     ///< nullopt: `missing` says why
  std::optional<Record> record;  ///< the member for the most rows, as it is stored for the range
  std::string missing;           ///< a sentence without a full stop
  std::size_t compared = 0;      ///< kernels that the set was chosen from
  /// Wall seconds of the whole with the device, of the searches at the sizes, of the choice, and of the
  /// held-out sizes.
  double total_s = 0, search_s = 0, choice_s = 0, held_out_s = 0;
};

/// Tunes a range in these steps:
/// 1. It searches at each of measured_sizes() (workload "m=..2048 rows=24", and "m=1" if the range begins
/// there), in turns (many_tasks.h).
/// 2. It times the best three kernels of each size at all sizes, those found nearby first.
/// 3. It chooses a set, and times the chosen kernels halfway between the sizes too.
/// 4. It times the set at held-out sizes, beside the best of a short search there and the default schedule of
/// that size.
/// The searches get kSearchShare of a limit of time or trials, steps 2 and 3 kChoiceShare, the held-out sizes
/// the rest. If a limit of trials is not enough for all sizes, fewer are searched, at least the most rows.
/// Each time is a row of the log, and the set is a verdict of the range's text. Without a time at each size
/// there is no set. Throws as Session; CHECKs that it is a range.
RangeSummary tune_range(const Workload& range, const OpenDevice& device, Logs logs,
                        const RangeOptions& options);
inline constexpr double kSearchShare = 0.55, kChoiceShare = 0.25;

/// Returns the document of `tune --json`. Unknown numbers are null.
nlohmann::json to_json(const RangeSummary& summary);

}  // namespace lehr
