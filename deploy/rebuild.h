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
};

/// A winner with the kernel that was measured.
struct RebuiltKernel {
  Winner winner;
  Workload workload;
  ir::Kernel kernel;
  Source source;
};

struct RebuiltWinners {
  std::vector<RebuiltKernel> kernels;
  std::vector<Skipped> skipped;
};

/// Each kernel is made again with the stored facts of its device, which need not be here. One whose hash is
/// not that of what was measured, or that tells none, is skipped: another kernel never goes under its time.
RebuiltWinners rebuild(std::span<const Winner> winners);

}  // namespace lehr
