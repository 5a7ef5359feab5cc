// Tunes a range of rows: searches kernels that take the number of rows as an argument at several sizes, and
// chooses the few that cover the range.
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
  std::size_t kernels = 6;  ///< maximum number of kernels in the set
  bool winograd = true;     ///< Task::winograd
  /// Options of each search. The limits of time and trials apply to the whole run. There are no finals and no
  /// baselines. Each search adds its size to `session_id`.
  SessionOptions session;
  /// Called with a sentence about the next step; may be empty.
  std::function<void(const std::string&)> on_step;
};

struct RangeSummary : RunSummary {
  std::optional<RowSet> set;     ///< nullopt: `missing` says why
  std::optional<Record> record;  ///< the set's member for the most rows, as it is stored for the range
  std::string missing;           ///< a sentence without a full stop
  std::size_t compared = 0;      ///< kernels that the set was chosen from
  /// Wall seconds: of the whole with the device, of the searches at the sizes, of the choice, and of the
  /// held-out sizes.
  double total_s = 0, search_s = 0, choice_s = 0, held_out_s = 0;
};

/// Tunes a range in these steps:
/// 1. It searches at each of measured_sizes(), in turns (many_tasks.h). The workload is "m=..2048 rows=24",
/// for example, and "m=1" too if the range begins at 1.
/// 2. It times the best three kernels of each size at all sizes. Kernels found at nearby sizes come first.
/// 3. It chooses a set, and times the chosen kernels also halfway between the sizes.
/// 4. It times the set at held-out sizes, together with the best kernel of a short search there and the
/// default schedule of that size.
/// The searches get the fraction kSearchShare of a limit of time or trials, steps 2 and 3 get kChoiceShare,
/// and the held-out sizes get the rest. If a limit of trials is not enough for all sizes, fewer sizes are
/// searched; the greatest number of rows is always searched. Each time is a row of the log, and the set is a
/// verdict of the range's text. If a size has no time, there is no set. Throws as Session; CHECKs that
/// `range` is a range.
RangeSummary tune_range(const Workload& range, const OpenDevice& device, Logs logs,
                        const RangeOptions& options);
inline constexpr double kSearchShare = 0.55, kChoiceShare = 0.25;

/// Returns the document of `tune --json`. Unknown numbers are null.
nlohmann::json to_json(const RangeSummary& summary);

}  // namespace lehr
