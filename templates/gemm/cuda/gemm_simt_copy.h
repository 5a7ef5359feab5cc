// Statements that copy one operand's tile from global to shared memory, through registers or by cp.async.
#pragma once

#include <optional>

#include "ir/kernel.h"
#include "templates/gemm/cuda/gemm_simt_space.h"
#include "templates/shared/image_view.h"

namespace lehr {

/// The buffers and variables that the statements refer to.
struct GemmSimtOperand {
  GemmSimtCopy copy;
  Layout layout = Layout::kRow;
  bool is_a = false;  ///< for A, rows are x and columns are k; for B, rows are k and columns are x
  ir::BufferId global{};
  ir::BufferId shared{};
  /// Registers that hold the tile between global and shared memory; unused with cp.async.
  ir::BufferId in_flight{};
  ir::VarId k_in{}, x_in{};                       ///< this thread's first element within the tile
  std::optional<ImageView> image = std::nullopt;  ///< if given, the matrix is this view of an input
  /// If given, the matrix holds the filters, and the view is that of the other operand.
  std::optional<ImageView> filters_of = std::nullopt;
};

/// Returns the Lets that define k_in and x_in by the thread's number.
ir::Block gemm_simt_positions(const GemmSimtOperand& operand, ir::VarId thread);

/// Where a tile begins in global memory. `base` is the matrix's first element, (k, x) are the coordinates of
/// the tile's first element. If bk does not divide k, the first tile is the short one, so that later tiles
/// need no check along k.
struct GemmSimtCorner {
  ir::Expr base = ir::integer(0);
  ir::Expr k = ir::integer(0);
  ir::Expr x = ir::integer(0);
  bool whole_k = true;  ///< whether all bk elements along k exist; otherwise only the first k % bk exist
};
/// Returns the corner of tile number `tile` along k.
GemmSimtCorner gemm_simt_corner(const GemmSimtCopy& copy, ir::Expr base, const ir::Expr& tile, ir::Expr x);

/// Copies the tile from global memory to registers. Elements outside of the matrix become zero.
ir::Block gemm_simt_load(ir::KernelBuilder& builder, const GemmSimtOperand& operand, ir::VarId thread,
                         const GemmSimtCorner& corner);
/// Copies the tile from registers to `stage` (an offset in elements) of shared memory.
ir::Block gemm_simt_store(ir::KernelBuilder& builder, const GemmSimtOperand& operand, ir::VarId thread,
                          const ir::Expr& stage);
/// Copies the tile from global to shared memory by cp.async. The copies must be committed and waited for.
ir::Block gemm_simt_copy_async(ir::KernelBuilder& builder, const GemmSimtOperand& operand, ir::VarId thread,
                               const GemmSimtCorner& corner, const ir::Expr& stage);

}  // namespace lehr
