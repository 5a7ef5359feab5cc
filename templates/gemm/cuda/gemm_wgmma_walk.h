// The tiles of C that a block of gemm_wgmma computes, and their order; its position in its cluster.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"

namespace lehr {

/// The blocks of a cluster compute neighbouring tiles, cluster_bm x cluster_bn of them, and advance together.
class GemmWgmmaWalk {
 public:
  /// `builder` must outlive this object.
  GemmWgmmaWalk(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                const GemmWgmmaSchedule& schedule, const GemmWgmmaGrid& grid);

  ir::VarId block() const { return block_; }
  /// Names the block's position in its cluster. Must come first. Empty without clusters.
  ir::Block begin() const;
  /// Return the number in the cluster, and its components along bm and along bn. 0 without clusters.
  ir::Expr rank() const;
  ir::Expr rank_m() const;
  ir::Expr rank_n() const;

  bool several_turns() const { return walkers_ < units_; }
  /// Returns `body` for each tile of the block, or of one of `step` consumers that take turns, from the
  /// `first`-th on. `turn` counts the block's tiles.
  ir::Block each(ir::VarId turn, const ir::Expr& first, std::int64_t step, ir::Block body) const;

  /// A tile's first row, first column and matrix of the batch. `lets` binds the variables.
  struct Place {
    ir::Block lets;
    ir::VarId row0{}, column0{};
    ir::Expr matrix = ir::integer(0);
  };
  Place place(ir::VarId turn) const;

 private:
  ir::KernelBuilder& b_;
  GemmWgmmaSchedule s_;
  std::int64_t batch_;
  std::int64_t rows_, columns_;  ///< clusters' tiles in one matrix, along bm and bn
  std::int64_t units_;           ///< clusters' tiles in all
  std::int64_t walkers_;         ///< clusters
  ir::VarId block_{}, cluster_{}, rank_{};
};

}  // namespace lehr
