// The kernels that a range's set is chosen from, and their times.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "codegen/source.h"
#include "tune/resume.h"
#include "tune/row_choice.h"
#include "tune/session.h"
#include "tune/task.h"

namespace lehr {

/// `picked_by` of what is timed for a set's choice, and of the range's own record.
inline constexpr const char* kPickedForSet = "set";

/// A search for a range: kernels with any number of rows, for calls of `rows` of them, or such of fixed rows.
struct RangeTask {
  std::int64_t rows = 0;
  Task task;
};

/// Where a search found a kernel, and how many there were faster.
struct FoundAt {
  std::int64_t rows = 0;
  int rank = 0;
  double slower = 1;  ///< its time over that of the fastest
  double us = 0;
  std::string record = {};  ///< id of the trial
};

struct RangeKernel {
  Workload workload;  ///< its own: "m=..2048", "m=1"
  Config config;
  Source source;
  std::uint64_t source_hash = 0;
  std::string layout;          ///< prepack_layout()
  std::vector<FoundAt> found;  ///< not empty
  bool any_rows = true;
};

/// The fastest `each` different kernels that the log has for each of `tasks` on the device; with a `layout`
/// the fastest `each` of those that have it or none, and the fastest one of all. `session`: only rows of that
/// run; "": of all. The best of each task come first, then the second ones.
std::vector<RangeKernel> range_kernels(const std::vector<RangeTask>& tasks, const Database& log,
                                       const std::string& session, std::size_t each,
                                       const std::optional<std::string>& layout = {});

/// Of `kernels`, out of searches for `sizes`, one whose prepack_layout() is the best that all sizes can have
/// together: with the least mean of the times over the fastest kernel's. nullopt: those are kernels that read
/// everything as it lies.
std::optional<Config> common_layout(const std::vector<RangeKernel>& kernels,
                                    const std::vector<std::int64_t>& sizes);

/// Numbers of `kernels` in the order in which they are worth a time at so many rows: to be found an octave
/// away is as bad as a rank lower. Those of another fixed number of rows are left out.
std::vector<std::size_t> worth_timing(const std::vector<RangeKernel>& kernels, std::int64_t rows);

/// Times kernels at sizes, each time a row of the log.
class RangeTimer {
 public:
  /// Borrows everything; `kernels` stay as they are. `on_trial` is called after each.
  RangeTimer(const Workload& range, const OpenDevice& device, Database& log, const SessionOptions& session,
             const std::vector<RangeKernel>& kernels, std::function<void(const Trial&)> on_trial);

  /// Each of `order` in a call of so many rows, until `enough` says so; what failed has no time.
  void time_at(std::int64_t rows, const std::vector<std::size_t>& order, const std::function<bool()>& enough,
               TimeLeft left);

  /// Takes the time of a search for each kernel that was found at one of `sizes` where no kernel was timed.
  void know_found(const std::vector<std::int64_t>& sizes);

  /// kNeverUs: not timed, or failed.
  double us(std::size_t kernel, std::int64_t rows) const;
  /// Whether it was, failed or not.
  bool tried(std::size_t kernel, std::int64_t rows) const { return times_.contains({kernel, rows}); }
  /// Id of the row; CHECKs that it was timed.
  const std::string& record(std::size_t kernel, std::int64_t rows) const;
  RowTimes times(const std::vector<std::int64_t>& sizes) const;

 private:
  void time_group(const Workload& workload, const std::vector<std::size_t>& group,
                  const std::function<bool()>& enough, TimeLeft left);

  const Workload& range_;
  const OpenDevice& device_;
  Database& log_;
  const SessionOptions& session_;
  const std::vector<RangeKernel>& kernels_;
  std::function<void(const Trial&)> on_trial_;
  struct Timed {
    double us = kNeverUs;
    std::string record;
  };
  std::map<std::pair<std::size_t, std::int64_t>, Timed> times_;
};

}  // namespace lehr
