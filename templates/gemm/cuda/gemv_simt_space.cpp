#include "templates/gemm/cuda/gemv_simt_space.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>

#include "base/ceil_div.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/product_view.h"

namespace lehr {
namespace {

// Maximum number of vectors. With more, the tensor cores and the tiled families are faster, because they
// reuse the matrix more.
constexpr std::int64_t kMaxVectors = 8;
// Bytes of the widest load (PTX ISA, "ld", .v4.b32).
constexpr std::int64_t kLoadBytes = 16;
// Registers for addresses, counters and predicates. Checked, with the terms of gemv_registers(), against
// NVRTC 13.0 on sm_80 and sm_90a: of 300 sampled schedules for each, those that are admitted do not spill.
constexpr std::int64_t kOtherRegisters = 32;
constexpr std::int64_t kMaxVectorElements = 128;

/// Returns the possible elements per load, given the alignment of a row.
std::vector<std::int64_t> vector_widths(std::int64_t contiguous_extent, std::int64_t element_bytes) {
  std::vector<std::int64_t> widths;
  for (const std::int64_t width : powers_of_two(1, kLoadBytes / element_bytes)) {
    if (contiguous_extent % width == 0) widths.push_back(width);
  }
  return widths;
}

/// Returns the smallest power of two that is at least `extent` and at least 32 (a warp).
std::int64_t covering(std::int64_t extent) {
  return std::max<std::int64_t>(32,
                                static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(extent))));
}

}  // namespace

GemvProblem gemv_problem(const Workload& workload) {
  const Gemm& g = workload.gemm();
  GemvProblem p;
  const ProductView few = few_rows_view(workload);
  p.vectors = few.m;
  p.outputs = few.n;
  p.k = few.k;
  p.batch = few.batch;
  p.type = g.a.type;
  p.c_type = g.c.type;
  p.matrix_is_a = few.swapped;
  p.matrix_along_k = few.b == Layout::kColumn;
  p.vectors_along_k = few.a == Layout::kRow;
  p.vectors_inner = few.c == Layout::kColumn;
  return p;
}

GemvShape gemv_shape(const GemvProblem& p, const GemvSchedule& s) {
  GemvShape shape;
  (p.matrix_along_k ? shape.k_per_load : shape.outputs_per_load) = s.vec;
  shape.outputs_per_thread = s.each * shape.outputs_per_load;
  shape.outputs_per_block = shape.outputs_per_thread * s.lanes_o() * s.warps_o;
  shape.k_per_step = s.slices() * s.unroll * shape.k_per_load;
  shape.chunk = p.matrix_along_k ? s.vec : s.unroll;
  return shape;
}

std::int64_t gemv_registers(const GemvProblem& p, const GemvSchedule& s) {
  const GemvShape shape = gemv_shape(p, s);
  const std::int64_t accumulators = p.vectors * shape.outputs_per_thread;
  // Registers for elements of the vectors in a step. If the matrix is contiguous along k and many loads are
  // unrolled, ptxas loads half of the next step's elements early.
  const std::int64_t ahead = p.matrix_along_k && s.unroll > 2 ? p.vectors * shape.chunk / 2 : 0;
  const std::int64_t elements = s.unroll * s.each * s.vec + p.vectors * shape.chunk + ahead;
  const std::int64_t in_flight = ceil_div(elements * size_of(p.type), 4);
  // Elements of one load of the matrix, and the vectors' elements for it, converted to f32.
  const std::int64_t converted = p.type == DType::kF32 ? 0 : s.vec * s.each + p.vectors * shape.k_per_load;
  const std::int64_t addresses = p.matrix_along_k ? 2 * s.each : 2 * s.unroll;
  return accumulators + in_flight + converted + addresses + kOtherRegisters;
}

std::int64_t gemv_shared_bytes(const GemvProblem& p, const GemvSchedule& s) {
  if (s.warps_k == 1) return 0;
  return ceil_div(s.warps_k * p.vectors * gemv_shape(p, s).outputs_per_block * 4, 16) * 16;
}

std::optional<std::string> gemv_why_not(const Workload& workload, const Limits& limits) {
  const Gemm& g = workload.gemm();
  if (is_gated(workload.epilogue)) return kNoGate;
  if (std::min(g.m, g.n) > kMaxVectors)
    return fmt::format("it is made for at most {} rows or columns of C, not {}", kMaxVectors,
                       std::min(g.m, g.n));
  const DType type = g.a.type;
  if (type != DType::kF32 && type != DType::kF16 && type != DType::kBF16)
    return fmt::format("it multiplies f32, f16 and bf16 only, not {}", name_of(type));
  if (g.b.type != type)
    return fmt::format("its operands have one type, not {} and {}", name_of(type), name_of(g.b.type));
  if (g.accum != DType::kF32) return fmt::format("it adds in f32 only, not {}", name_of(g.accum));
  if (g.c.type != DType::kF32 && g.c.type != type)
    return fmt::format("C is of f32 or of the operands' type, not {}", name_of(g.c.type));
  if (auto reason = cuda::why_not_stored(g.c.type, limits)) return reason;
  return cuda::why_no_grid(g);
}

void gemv_simt_knobs(Knobs<GemvSchedule>& k, const Workload& workload, const Limits& limits) {
  using S = GemvSchedule;
  const GemvProblem p = gemv_problem(workload);
  k.knob(&S::vec, "vec", "elements per load of the matrix", vector_widths(p.row(), size_of(p.type)));
  // With fewer than four lanes along a row of the matrix, most of each memory sector would be unused.
  k.knob(&S::lanes_k, "lanes_k", "lanes of a warp that split k",
         p.matrix_along_k ? powers_of_two(4, 32) : powers_of_two(1, 16));
  k.knob(&S::warps_k, "warps_k", "warps of a block that split k", powers_of_two(1, 16));
  k.knob(&S::warps_o, "warps_o", "warps of a block that split the outputs", powers_of_two(1, 8));
  k.forbid("too many threads", [=](const S& s) { return s.threads() > limits.max_threads_per_block; });
  k.knob(&S::each, "each", "loads along the outputs per thread", powers_of_two(1, p.matrix_along_k ? 8 : 4));
  k.forbid("a block is larger than the outputs",
           [=](const S& s) { return gemv_shape(p, s).outputs_per_block > covering(p.outputs); });
  k.knob(&S::unroll, "unroll", "loads along k in flight per thread", powers_of_two(1, 16));
  k.forbid("a step is longer than k",
           [=](const S& s) { return gemv_shape(p, s).k_per_step > covering(p.k); });
  k.forbid("too much code", [=](const S& s) { return p.vectors * s.each * s.unroll * s.vec > 1024; });
  // ptxas starts as many loads of an iteration at once as it can, and spills the registers that do not fit.
  k.forbid("too many elements of the vectors in flight", [=](const S& s) {
    return p.vectors * s.unroll * (p.matrix_along_k ? s.vec : 1) > kMaxVectorElements;
  });
  k.forbid("needs more shared memory than a block may have",
           [=](const S& s) { return gemv_shared_bytes(p, s) > limits.shared_bytes_per_block; });
  k.knob(&S::min_blocks, "min_blocks", "blocks that a multiprocessor must hold", {1, 2, 4});
  k.forbid("needs more threads than the multiprocessor has for that many blocks",
           [=](const S& s) { return s.threads() * s.min_blocks > limits.max_threads_per_core; });
  k.forbid("needs more shared memory than the multiprocessor has for that many blocks", [=](const S& s) {
    return !cuda::shared_memory_holds(limits, s.min_blocks, gemv_shared_bytes(p, s));
  });
  k.forbid("needs more registers than a thread can have", [=](const S& s) {
    return gemv_registers(p, s) > cuda::registers_granted(limits, s.min_blocks, s.threads());
  });
}

// Chooses enough bytes in flight to hide the memory's latency on every multiprocessor: four 16-byte loads per
// thread. Splits k over more warps while there are fewer than two blocks per multiprocessor.
GemvSchedule gemv_simt_wanted(const Workload& workload, const Limits& limits) {
  const GemvProblem p = gemv_problem(workload);
  GemvSchedule s;
  s.vec = vector_widths(p.row(), size_of(p.type)).back();
  const auto few = [&](std::int64_t outputs_per_block) {
    return ceil_div(p.outputs, outputs_per_block) * p.batch < 2 * limits.cores;
  };
  if (p.matrix_along_k) {
    s.lanes_k = 32;
    s.warps_o = 4;
    s.each = p.vectors > 2 ? 4 : 2;
    while (s.warps_o > 1 && few(s.warps_o * s.each)) {
      s.warps_o /= 2;
      s.warps_k *= 2;
    }
    while (s.each > 1 && few(s.each)) s.each /= 2;
  } else {
    s.lanes_k = 1;
    s.warps_k = 8;
    // 8 lanes with 16 bytes each read a cache line of 128 bytes, 2 lanes a sector.
    while (s.lanes_k < 16 && few(s.lanes_o() * s.vec)) s.lanes_k *= 2;
  }
  s.unroll = std::max<std::int64_t>(1, 4 / s.each);
  return s;
}

}  // namespace lehr
