// Makes the kernels of winners again, exactly as they were measured.
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
  std::size_t winner = 0;  ///< position of the winner
  std::string reason;      ///< one sentence that says what to do
  /// Whether the winner's config can still be made, checked and timed as a new trial.
  bool remeasuring_helps = false;
  bool provisional = false;  ///< whether its provisional verdict is the only reason
};

/// A winner with the kernel that was measured.
struct RebuiltKernel {
  Winner winner;
  /// The kernel's workload. If the kernel takes the number of rows as an argument, the workload is without
  /// the trial's number of rows.
  Workload workload;
  ir::Kernel kernel;
  Source source;
};

/// Kernels that together serve any number of rows of one product, all for the same device.
struct RebuiltSet {
  /// A kernel that serves the numbers of rows above the previous member's `to`, up to its own `to`.
  struct Member {
    std::size_t kernel = 0;  ///< position among all kernels
    std::int64_t to = 0;
  };
  /// The measured time of a call with `rows` rows, by the member that serves it.
  struct Time {
    std::int64_t rows = 0;
    double us = 0;
  };
  Workload workload;            ///< workload of a range, or of a kernel with rows as an argument
  std::vector<Member> members;  ///< in ascending order of `to`; the last member's `to` is the most rows
  std::vector<Time> times;      ///< in ascending order of rows; at least one
};

struct RebuiltWinners {
  std::vector<RebuiltKernel> kernels;
  std::vector<RebuiltSet> sets;  ///< every kernel with rows as an argument is in a set
  std::vector<Skipped> skipped;
};

/// Returns the set of a single kernel with rows as an argument; `position` is its position among all kernels.
RebuiltSet set_of_one(const RebuiltKernel& kernel, std::size_t position);

/// Removes each kernel whose element in `left_out` is true, and all sets with such a kernel. Other kernels
/// with rows as an argument are removed, too, if they are in none of the remaining sets.
void leave_out(RebuiltWinners& winners, std::vector<bool> left_out);

/// Makes each kernel again with the stored facts of its device, which need not be part of this machine. A
/// kernel is skipped if its hash differs from the hash in its trial, or if the trial has no hash, so that no
/// kernel is exported with the time of another kernel. Winners that are not proven (Verdict::provisional) are
/// skipped, too. The kernels of a range's set are made from their trials in `log`. If one of them cannot be
/// made, the whole range is skipped.
RebuiltWinners rebuild(std::span<const Winner> winners, const Database& log);

}  // namespace lehr
