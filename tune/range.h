// One tuning for a range of rows: kernels that are told how many there are, searched for at several sizes,
// and the few of them that cover the range.
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
  std::size_t kernels = 6;      ///< at most, of the set
  bool saving_products = true;  ///< Task::saving_products
  /// Options of each search. Its limits of time and trials hold for all of it together; there are no finals
  /// and no baselines. `session_id` gets a size behind it.
  SessionOptions session;
  std::function<void(const std::string&)> on_step;  ///< told what comes next, a sentence; may be empty
};

struct RangeSummary : RunSummary {
  std::optional<RowSet> set;     ///< nullopt: `missing` says why
  std::optional<Record> record;  ///< the member for the most rows, as it is stored for the range
  std::string missing;           ///< a sentence without a full stop
  std::size_t compared = 0;      ///< kernels that the set was chosen from
  /// Wall seconds, device and all: searches at the sizes, the choice, held-out sizes.
  double total_s = 0, search_s = 0, choice_s = 0, held_out_s = 0;
};

/// Searches at each of measured_sizes() (workload "m=..2048 rows=24", and "m=1" where the range begins
/// there), in turns (many_tasks.h); times the best three of each at all of them, those that were found nearby
/// first; chooses, and times what is chosen halfway between them too; then times the set at held-out sizes,
/// beside the best of a short search there and the default schedule of that size. Of a limit of time or of
/// trials the searches have kSearchShare, what follows until the held-out sizes kChoiceShare, these the rest.
/// A limit of trials that is not enough for all sizes thins them out, down to the most rows alone.
/// Every time is a row of the log, and the set a verdict of the range's text. Without a time at each size
/// there is no set. Throws as Session; CHECKs that it is a range.
RangeSummary tune_range(const Workload& range, const OpenDevice& device, Logs logs,
                        const RangeOptions& options);
inline constexpr double kSearchShare = 0.55, kChoiceShare = 0.25;

/// The document of `tune --json`. Unknown numbers are null.
nlohmann::json to_json(const RangeSummary& summary);

}  // namespace lehr
