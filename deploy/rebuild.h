// Makes winners' kernels again as they were measured.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "deploy/winners.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// A winner that is not exported.
struct Skipped {
  std::size_t winner = 0;  ///< its position
  std::string reason;      ///< one sentence that says what to do
  /// Whether its config can still be made, checked and timed, as a new trial.
  bool remeasuring_helps = false;
  bool provisional = false;  ///< whether its provisional verdict is the only reason
};

/// A winner with the kernel that was measured.
struct RebuiltKernel {
  Winner winner;
  /// The kernel's: if it takes the number of rows as an argument, without the trial's rows.
  Workload workload;
  ir::Kernel kernel;
  Source source;
};

/// Kernels that together serve any number of rows of one product, all for the same device.
struct RebuiltSet {
  /// A kernel for the rows from behind the previous member up to `to`.
  struct Member {
    std::size_t kernel = 0;  ///< position among all kernels
    std::int64_t to = 0;
  };
  /// The time of the member that serves this many rows.
  struct Time {
    std::int64_t rows = 0;
    double us = 0;
  };
  Workload workload;            ///< of a range, or of the one kernel with rows as an argument
  std::vector<Member> members;  ///< ascending by `to`; the last one's is the most rows
  std::vector<Time> times;      ///< ascending by rows; at least one
};

struct RebuiltWinners {
  std::vector<RebuiltKernel> kernels;
  std::vector<RebuiltSet> sets;  ///< each kernel with rows as an argument is in one
  std::vector<Skipped> skipped;
};

/// Returns the set of a single kernel with rows as an argument; `position` is its position among all kernels.
RebuiltSet set_of_one(const RebuiltKernel& kernel, std::size_t position);

/// Removes each kernel whose element of `left_out` is true, the sets that it is in, and the kernels with rows
/// as an argument that were only in these sets.
void leave_out(RebuiltWinners& winners, std::vector<bool> left_out);

/// Makes each kernel again with the stored facts of its device, which need not be here. A kernel whose hash
/// differs from the measured one, or whose trial has no hash, is skipped: no kernel is exported with another
/// one's time. Unproven ones (Verdict::provisional) are skipped, too. Of a range of rows either all kernels
/// of its set are made, whose trials `log` has, or none.
RebuiltWinners rebuild(std::span<const Winner> winners, const Database& log);

}  // namespace lehr
