// The kernels that a range's set is chosen from, with their times.
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

/// `picked_by` of trials for a set's choice, and of the range's own record.
inline constexpr const char* kPickedForSet = "set";

/// A search for a range: for kernels with any number of rows, timed in calls of `rows`, or for kernels with
/// that fixed number.
struct RangeTask {
  std::int64_t rows = 0;
  Task task;
};

/// A search that found a kernel, and the kernel's rank there.
struct FoundAt {
  std::int64_t rows = 0;
  int rank = 0;       ///< number of faster kernels there
  double slower = 1;  ///< its time over the fastest one's
  double us = 0;
  std::string record = {};  ///< id of the trial
};

struct RangeKernel {
  Workload workload;  ///< the kernel's own: "m=..2048", "m=1"
  Config config;
  Source source;
  std::uint64_t source_hash = 0;
  std::string layout;          ///< prepack_layout()
  std::vector<FoundAt> found;  ///< not empty
  bool any_rows = true;
};

/// Returns the `each` fastest different kernels that the log has for each of `tasks` on the device. With a
/// `layout` it returns the `each` fastest kernels that have that layout or none, and the fastest one of all.
/// `session`: only rows of that run; "": of all. The best kernel of each task comes first, then the second
/// ones.
std::vector<RangeKernel> range_kernels(const std::vector<RangeTask>& tasks, const Database& log,
                                       const std::string& session, std::size_t each,
                                       const std::optional<std::string>& layout = {});

/// Returns one of `kernels`, found by searches for `sizes`, whose prepack_layout() is best for all sizes
/// together: it has the least mean of the times over the fastest kernel's. nullopt: kernels without a layout,
/// which read everything as it lies, are best.
std::optional<Config> common_layout(const std::vector<RangeKernel>& kernels,
                                    const std::vector<std::int64_t>& sizes);

/// Returns positions in `kernels` in the order in which they are worth a time at `rows`. A kernel found an
/// octave away is ranked one lower. Kernels for another fixed number of rows are left out.
std::vector<std::size_t> worth_timing(const std::vector<RangeKernel>& kernels, std::int64_t rows);

/// Times kernels at sizes. Each time is a row of the log.
class RangeTimer {
 public:
  /// Borrows everything; `kernels` must not change. `on_trial` is called after each trial.
  RangeTimer(const Workload& range, const OpenDevice& device, Database& log, const SessionOptions& session,
             const std::vector<RangeKernel>& kernels, std::function<void(const Trial&)> on_trial);

  /// Times each kernel of `order` in a call of this many rows, until `enough` returns true. A kernel that
  /// failed has no time.
  void time_at(std::int64_t rows, const std::vector<std::size_t>& order, const std::function<bool()>& enough,
               TimeLeft left);

  /// Takes over the search's time of each kernel that was found at one of `sizes` where no kernel was timed.
  void know_found(const std::vector<std::int64_t>& sizes);

  /// Returns the kernel's time; kNeverUs: not timed, or failed.
  double us(std::size_t kernel, std::int64_t rows) const;
  /// Whether the kernel was tried, failed or not.
  bool tried(std::size_t kernel, std::int64_t rows) const { return times_.contains({kernel, rows}); }
  /// Returns the id of the row; CHECKs that the kernel was timed.
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
