// The tiles of C that a block of gemm_wgmma computes, their order, and the block's position in its cluster.
#pragma once

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"

namespace lehr {

/// Walks over the tiles of C. The blocks of a cluster compute cluster_bm x cluster_bn neighbouring tiles at a
/// time, and advance together.
class GemmWgmmaWalk {
 public:
  /// `builder` must outlive this object.
  GemmWgmmaWalk(ir::KernelBuilder& builder, const GemmWgmmaProblem& problem,
                const GemmWgmmaSchedule& schedule, const GemmWgmmaGrid& grid);

  ir::VarId block() const { return block_; }
  /// Defines the variables of the block's position in its cluster. Must come first. Returns an empty block
  /// without clusters.
  ir::Block begin() const;
  /// Return the block's rank in the cluster, and the components of its position along bm and along bn. All
  /// are 0 without clusters.
  ir::Expr rank() const;
  ir::Expr rank_m() const;
  ir::Expr rank_n() const;

  bool several_turns() const { return walkers_ < units_; }
  /// Returns a loop that executes `body` for tiles of the block: for the tile number `first`, first + step,
  /// and so on (with step > 1, `step` consumers take turns). `turn` is the number of the tile among the
  /// block's tiles.
  ir::Block each(ir::VarId turn, const ir::Expr& first, std::int64_t step, ir::Block body) const;

  /// First row and first column of a tile, and its matrix of the batch. `lets` defines the variables.
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
  std::int64_t rows_, columns_;  ///< number of clusters' tiles in one matrix, along bm and along bn
  std::int64_t units_;           ///< number of clusters' tiles in the whole batch
  std::int64_t walkers_;         ///< number of clusters
  ir::VarId block_{}, cluster_{}, rank_{};
};

}  // namespace lehr
