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

/// A search for a range. Its task has either kernels for any number of rows, which are timed in calls of
/// `rows` rows, or kernels for exactly `rows` rows.
struct RangeTask {
  std::int64_t rows = 0;
  Task task;
};

/// A search that found a kernel, and the kernel's rank in it.
struct FoundAt {
  std::int64_t rows = 0;
  int rank = 0;       ///< number of faster kernels in that search
  double slower = 1;  ///< its time divided by the fastest kernel's
  double us = 0;
  std::string record = {};  ///< id of the trial
};

struct RangeKernel {
  Workload workload;  ///< the workload that the kernel was made for: "m=..2048", "m=1"
  Config config;
  Source source;
  std::uint64_t source_hash = 0;
  std::string layout;          ///< prepack_layout()
  std::vector<FoundAt> found;  ///< not empty
  bool any_rows = true;
};

/// Returns the fastest different kernels that the log has for each of `tasks` on the device, `each` per task.
/// With a `layout` it returns, per task, the `each` fastest kernels that have that layout or no layout, and
/// the fastest kernel of all. `session`: only rows of that run; "": rows of all runs. The best kernel of each
/// task comes first, then the second-best ones.
std::vector<RangeKernel> range_kernels(const std::vector<RangeTask>& tasks, const Database& log,
                                       const std::string& session, std::size_t each,
                                       const std::optional<std::string>& layout = {});

/// Returns the config of a kernel whose prepack_layout() is best for all `sizes` together. `kernels` were
/// found by searches for `sizes`. Layouts are compared by the mean, over the sizes, of their fastest kernel's
/// time divided by the fastest kernel's of all. nullopt: kernels without a layout, which read all inputs as
/// they lie in memory, are best.
std::optional<Config> common_layout(const std::vector<RangeKernel>& kernels,
                                    const std::vector<std::int64_t>& sizes);

/// Returns positions in `kernels`, ordered by how much it is worth to time the kernel at `rows`. A kernel
/// found an octave away is ranked one lower. Kernels for another fixed number of rows are left out.
std::vector<std::size_t> worth_timing(const std::vector<RangeKernel>& kernels, std::int64_t rows);

/// Times kernels at sizes. Each time is a row of the log.
class RangeTimer {
 public:
  /// Borrows everything; `kernels` must not change. `on_trial` is called after each trial.
  RangeTimer(const Workload& range, const OpenDevice& device, Database& log, const SessionOptions& session,
             const std::vector<RangeKernel>& kernels, std::function<void(const Trial&)> on_trial);

  /// Times each kernel of `order` in a call with `rows` rows, until `enough` returns true. A kernel that
  /// failed gets no time.
  void time_at(std::int64_t rows, const std::vector<std::size_t>& order, const std::function<bool()>& enough,
               TimeLeft left);

  /// Takes over, for each of `sizes` where no kernel was timed, the search's times of the kernels found
  /// there.
  void know_found(const std::vector<std::int64_t>& sizes);

  /// Returns the kernel's time in microseconds; kNeverUs: not timed, or failed.
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
