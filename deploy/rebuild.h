// Winners' kernels, made again as they were measured.
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
  std::size_t winner = 0;          ///< its position
  std::string reason;              ///< one sentence that says what to do
  bool remeasuring_helps = false;  ///< its config can still be made, checked and timed: as a new trial
  bool provisional = false;        ///< nothing is wrong with it but that its verdict is provisional
};

/// A winner with the kernel that was measured.
struct RebuiltKernel {
  Winner winner;
  Workload workload;  ///< of the kernel: where it is told the number of rows, without those of the trial
  ir::Kernel kernel;
  Source source;
};

/// Kernels that answer together for any number of rows of one product, all for the same device.
struct RebuiltSet {
  /// It serves the rows from behind the member before it up to these.
  struct Member {
    std::size_t kernel = 0;  ///< position among all kernels
    std::int64_t to = 0;
  };
  /// What the member takes that serves so many.
  struct Time {
    std::int64_t rows = 0;
    double us = 0;
  };
  Workload workload;            ///< of a range, or of the one kernel that is told the number of rows
  std::vector<Member> members;  ///< by `to`, ascending; the last one's is the most rows
  std::vector<Time> times;      ///< by rows, ascending; one at least
};

struct RebuiltWinners {
  std::vector<RebuiltKernel> kernels;
  std::vector<RebuiltSet> sets;  ///< each kernel that is told the number of rows is in one
  std::vector<Skipped> skipped;
};

/// Of one kernel that is told the number of rows, alone; `position`: its own among all kernels.
RebuiltSet set_of_one(const RebuiltKernel& kernel, std::size_t position);

/// Leaves out each kernel whose place in `left_out` is true, the sets that it is in, and the kernels that are
/// told the number of rows and were in these alone.
void leave_out(RebuiltWinners& winners, std::vector<bool> left_out);

/// Each kernel is made again with the stored facts of its device, which need not be here. One whose hash is
/// not that of what was measured, or that tells none, is skipped: another kernel never goes under its time.
/// So is one that was not proven (Verdict::provisional). Of a range of rows all kernels of its set, which
/// `log` has the trials of, or none.
RebuiltWinners rebuild(std::span<const Winner> winners, const Database& log);

}  // namespace lehr
