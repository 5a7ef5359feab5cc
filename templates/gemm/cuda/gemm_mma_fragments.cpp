// Fragments have the layout of PTX ISA 9.0, "Matrix Fragments for mma.m16n8k16" (and of the neighbouring
// sections for other types). Counted in bytes, it is the same for all types: a fragment covers 16 rows of 32
// bytes of k, divided into four matrices of 8 rows by 16 bytes. Of each matrix, lane l holds 4 bytes of row l
// / 4, from byte 4 (l % 4) on. ldmatrix reads exactly that (and transposes 16-bit elements if x is
// contiguous); lane l gives the address of row l % 8 of matrix l / 8. For B, two column tiles of the mma are
// read together.
#include "templates/gemm/cuda/gemm_mma_operand.h"
#include "templates/gemm/cuda/gemm_mma_swizzle.h"

namespace lehr {
namespace {

using namespace ir;

/// Returns the position along x of one of the four matrices or registers. In A's order x varies first, in B's
/// order k varies first.
Expr x_part(const GemmMmaOperand& operand, const Expr& number) {
  return operand.is_a ? number % 2 : number / 2;
}
Expr k_part(const GemmMmaOperand& operand, const Expr& number) {
  return operand.is_a ? number / 2 : number % 2;
}

}  // namespace

Expr gemm_mma_swizzle(const GemmMmaTile& tile, const Expr& line) {
  const std::int64_t chunks = tile.line / tile.chunk;
  if (chunks >= 8) return line % 8;
  if (chunks == 1) return integer(0);
  return line / (8 / chunks) % chunks;
}

Block gemm_mma_fragment_places(const GemmMmaProblem& problem, const GemmMmaSchedule& schedule,
                               const GemmMmaOperand& operand, const GemmMmaThread& thread) {
  const GemmMmaTile& tile = operand.tile;
  const std::int64_t k_share = schedule.bk / schedule.k_warps;  // a power of two times mma_k
  const Expr first_k = schedule.k_warps == 1 ? integer(0) : var(thread.k_group) * k_share;
  const Expr first_x = var(thread.warp_x) * tile.warp_tile;
  const Expr lane = var(thread.lane);
  if (tile.gathered) {
    // Each lane holds 32 bits along k: one element, or four elements of 8 bits.
    const Expr k = first_k + lane % 4 * (4 / problem.bytes());
    return block(Let{operand.row, k * tile.stride + first_x + lane / 4});
  }
  const Expr x = x_part(operand, lane / 8);
  const Expr k = k_part(operand, lane / 8);
  const Expr in_matrix = lane % 8;
  const Expr row = tile.along_k ? first_x + x * 8 + in_matrix : first_k + k * 8 + in_matrix;
  const Expr first_chunk =
      tile.along_k ? schedule.k_warps == 1 ? integer(0) : var(thread.k_group) * (k_share / tile.chunk)
                   : var(thread.warp_x) * (tile.warp_tile / tile.chunk);
  const Expr chunk = first_chunk + (tile.along_k ? k : x);
  return block(Let{operand.row, row * tile.stride},
               Let{operand.chunk, bit_xor(chunk, gemm_mma_swizzle(tile, in_matrix))});
}

Block gemm_mma_fragments(KernelBuilder& builder, const GemmMmaProblem& problem, const GemmMmaOperand& operand,
                         const Expr& stage, const Expr& step, const Expr& turn) {
  const GemmMmaTile& tile = operand.tile;
  const Unrolled i(builder, operand.is_a ? StaticText("frag_i") : "frag_j", tile.warp_tile / 16);
  const Expr place = turn + i.at * 4;
  Block body;
  if (tile.gathered) {
    const Unrolled r(builder, "reg", 4);
    const bool wide = problem.bytes() == 4;
    const Expr k = step * problem.mma_k() + k_part(operand, r.at) * (problem.mma_k() / 2);
    Expr index = stage + var(operand.row) + k * tile.stride + i.at * 16 + x_part(operand, r.at) * 8;
    Intrinsic gather{
        wide ? StaticText("gather_1x32") : "gather_4x8",
        {Touch{operand.fragment, place + r.at, 1, true}, Touch{operand.shared, index, wide ? 1 : 4, false}},
        {},
        0};
    if (!wide) gather.args = {integer(tile.stride)};
    body = r.over(block(gather));
  } else {
    // Steps and tiles of 16 are aligned powers of two, so XOR gives the same result as a sum and is cheaper.
    const Expr line = (tile.along_k ? i.at : step) * (16 * tile.stride);
    const Expr chunk = bit_xor((tile.along_k ? step : i.at) * 2, var(operand.chunk));
    body = block(Intrinsic{
        tile.along_k ? StaticText("ldmatrix_x4") : "ldmatrix_x4_trans",
        {Touch{operand.fragment, place, 4, true},
         Touch{operand.shared, stage + var(operand.row) + line + chunk * tile.chunk, tile.chunk, false}},
        {},
        0});
  }
  if (problem.passes == 3) {
    body.push_back(Intrinsic{"tf32_split_x4",
                             {Touch{operand.fragment, place, 4, true}, Touch{operand.rest, place, 4, true}},
                             {},
                             4});
  } else if (problem.rounds) {
    body.push_back(Intrinsic{"tf32_round_x4", {Touch{operand.fragment, place, 4, true}}, {}, 0});
  }
  return i.over(body);
}

}  // namespace lehr
