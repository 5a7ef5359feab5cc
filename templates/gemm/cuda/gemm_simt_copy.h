// One operand's tile from global to shared memory, as statements: through registers or by cp.async.
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
  bool is_a = false;  ///< A: rows are x, columns are k; B: rows are k, columns are x
  ir::BufferId global{};
  ir::BufferId shared{};
  ir::BufferId in_flight{};  ///< registers between global and shared memory; unused with cp.async
  ir::VarId k_in{}, x_in{};  ///< this thread's first element within the tile
  std::optional<ImageView> image = std::nullopt;  ///< if given, the matrix is this view of an input
  /// If given, the matrix holds the filters of this view.
  std::optional<ImageView> filters_of = std::nullopt;
};

/// Lets k_in and x_in from the thread's number.
ir::Block gemm_simt_positions(const GemmSimtOperand& operand, ir::VarId thread);

/// Where a tile begins in global memory. `base` is the matrix's first element, (k, x) the tile's corner. If
/// tiles do not divide k, the first tile is the short one, so that no later one needs a bound on k.
struct GemmSimtCorner {
  ir::Expr base = ir::integer(0);
  ir::Expr k = ir::integer(0);
  ir::Expr x = ir::integer(0);
  bool whole_k = true;  ///< all bk elements along k exist; else the first k % bk
};
/// Returns the corner of tile number `tile` along k.
GemmSimtCorner gemm_simt_corner(const GemmSimtCopy& copy, ir::Expr base, const ir::Expr& tile, ir::Expr x);

/// Copies global memory to registers. Elements outside the matrix become zero.
ir::Block gemm_simt_load(ir::KernelBuilder& builder, const GemmSimtOperand& operand, ir::VarId thread,
                         const GemmSimtCorner& corner);
/// Copies registers to the tile at `stage` (in elements) of shared memory.
ir::Block gemm_simt_store(ir::KernelBuilder& builder, const GemmSimtOperand& operand, ir::VarId thread,
                          const ir::Expr& stage);
/// Copies global to shared memory without registers, to be committed and waited for.
ir::Block gemm_simt_copy_async(ir::KernelBuilder& builder, const GemmSimtOperand& operand, ir::VarId thread,
                               const GemmSimtCorner& corner, const ir::Expr& stage);

}  // namespace lehr
