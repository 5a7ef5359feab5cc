// Values derived from a workload and a schedule of gemm_wgmma: the workloads that it serves, the instruction,
// tiles in shared memory, tiles of C, registers.
#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/ceil_div.h"
#include "base/clusters.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/shared/image_view.h"
#include "templates/shared/product_view.h"

namespace lehr {
namespace {

/// Bytes of the two mbarriers of a stage, and of the two that order the consumers of ping-pong.
constexpr std::int64_t kBarrierBytes = 8;

/// Maximum number of sums of a thread with which two consumers fit into the registers.
constexpr std::int64_t kSumsOfTwo = 192;
/// With at most this many sums, no thread needs more than an even share of the registers.
constexpr std::int64_t kHardlyAnySums = 48;

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return ceil_div(value, multiple) * multiple;
}

/// Returns "k16_f32_bf16" for bf16 operands, "" for types that wgmma does not multiply.
std::string_view instruction_suffix(DType operand, DType accum) {
  if (operand == DType::kS8) return accum == DType::kS32 ? "k32_s32_s8" : "";
  if (accum != DType::kF32) return "";
  switch (operand) {
    case DType::kBF16:
      return "k16_f32_bf16";
    case DType::kF16:
      return "k16_f32_f16";
    case DType::kF32:
      return "k8_f32_tf32";
    case DType::kE4M3:
      return "k32_f32_e4m3";
    case DType::kE5M2:
      return "k32_f32_e5m2";
    default:
      return "";
  }
}

std::optional<std::string> why_not_types(const Gemm& g) {
  if (g.a.type != g.b.type)
    return fmt::format("A and B must have one type, not {} and {}", name_of(g.a.type), name_of(g.b.type));
  if (instruction_suffix(g.a.type, g.accum).empty())
    return fmt::format(
        "wgmma multiplies f16, bf16, tf32, e4m3 and e5m2 with sums in f32, s8 in s32, not {} in {}",
        name_of(g.a.type), name_of(g.accum));
  if (g.a.type == DType::kF32 && g.math != Math::kTf32)
    return fmt::format("wgmma rounds f32 to tf32; math={} does not permit it", name_of(g.math));
  const bool fits =
      g.c.type == g.accum || (g.c.type == g.a.type && size_of(g.a.type) == 2) ||
      (size_of(g.a.type) == 1 && g.accum == DType::kF32 && size_of(g.c.type) == 2 && !is_integer(g.c.type));
  if (!fits) return fmt::format("it cannot store sums in {} as {}", name_of(g.accum), name_of(g.c.type));
  return std::nullopt;
}

/// Explains why a layout is not served: TMA needs lines of a multiple of 16 bytes.
std::optional<std::string> why_not_layout(const Gemm& g) {
  const bool a_across = g.a.layout == Layout::kColumn, b_across = g.b.layout == Layout::kRow;
  if (g.a.type == DType::kF32 && a_across && b_across)
    return "wgmma takes tf32 across k from registers, and only one operand: A must be stored by rows or B by "
           "columns";
  for (const bool is_a : {true, false}) {
    const Operand& operand = is_a ? g.a : g.b;
    const char* const name = is_a ? "A" : "B";
    const bool along_k = operand.layout == (is_a ? Layout::kRow : Layout::kColumn);
    const int bytes = size_of(operand.type);
    if (!along_k && bytes == 1)
      return fmt::format("wgmma takes {} only with k contiguous: {} must be stored by {}",
                         name_of(operand.type), name, is_a ? "rows" : "columns");
    const std::int64_t line = along_k ? g.k : (is_a ? g.m : g.n);
    if (line * bytes % 16 != 0)
      return fmt::format(
          "the lines of {} have {} bytes, and the tensor memory accelerator needs a multiple of 16", name,
          line * bytes);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_wgmma_operands(const Gemm& g, const Limits& limits) {
  if (!limits.has(Ability::kWgmma)) return "it is for sm_90a";
  if (auto reason = why_not_types(g)) return reason;
  return why_not_layout(g);
}

std::int64_t gemm_wgmma_span(std::int64_t elements, std::int64_t bytes) {
  for (const std::int64_t span : {128, 64, 32})
    if (elements * bytes % span == 0) return span;
  return 0;
}

StaticText gemm_wgmma_instruction(const GemmWgmmaProblem& p, std::int64_t columns) {
  if (p.rows_from_registers())  // only for tf32
    return ir::intrinsic_name(fmt::format("wgmma_m64n{}k8_f32_registers_tf32", columns));
  return ir::intrinsic_name(fmt::format("wgmma_m64n{}{}", columns, instruction_suffix(p.operand, p.accum)));
}

bool GemmWgmmaProblem::gathers() const {
  if (!image) return false;
  const Conv2d& conv = image->conv;
  const bool moves = conv.pad_top + conv.pad_bottom + conv.pad_left + conv.pad_right > 0 ||
                     conv.stride_h > 1 || conv.stride_w > 1;
  return image->stored_taps > 1 || moves;
}

std::int64_t GemmWgmmaProblem::elements(bool of_a) const {
  if (image)
    return of_a ? image->conv.n * image->conv.h * image->conv.w * image->conv.c : image->filter_elements();
  return size.batch * size.k * (of_a ? size.m : size.n);
}

GemmWgmmaProblem gemm_wgmma_problem(const Workload& workload) {
  GemmWgmmaProblem p;
  if (workload.op() == Operator::kConv2d) p.image = trimmed_view(workload);
  const Workload of_conv = p.image ? image_product(p.image->conv) : Workload();
  const Workload& product = p.image ? of_conv : workload;
  const Gemm& g = product.gemm();
  p.size = product_view(product);
  p.operand = g.a.type;
  p.output = g.c.type;
  p.accum = g.accum;
  p.two_level = g.math == Math::kTwoLevel;
  p.fused = !workload.epilogue.empty();
  if (!p.image) return p;
  const Conv2d& conv = p.image->conv;
  // A row of k holds channels of one tap. Chooses the widest rows among those that leave the fewest elements
  // unused.
  const auto padded = [&](std::int64_t span) { return ceil_div(conv.c * p.bytes(), span) * span; };
  for (const std::int64_t span : {64, 32})
    if (padded(span) < padded(p.span)) p.span = span;
  if (p.gathers()) p.size.k = padded(p.span) / p.bytes() * conv.r * conv.s;
  return p;
}

std::int64_t gemm_wgmma_sums(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  return s.accumulators() + (p.two_level ? s.columns() / 2 : 0) + gemm_wgmma_fragments(p, s);
}

std::int64_t gemm_wgmma_fragments(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  if (!p.rows_from_registers()) return 0;
  return s.consumer_rows() / 64 * (s.k_atoms * p.row() / p.mma_k()) * 4;
}

GemmWgmmaTile gemm_wgmma_tile(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s, bool is_rows) {
  const bool is_a = is_rows == (s.swap_ab == 0);
  GemmWgmmaTile t;
  t.along_k = is_a ? p.a_along_k() : p.b_along_k();
  t.extent = is_a ? p.size.m : p.size.n;
  t.tile = is_rows ? s.bm : s.bn;
  t.slices = is_rows ? s.cluster_bn : s.cluster_bm;
  if (p.gathers()) t.view = is_a ? GemmWgmmaView::kPixels : GemmWgmmaView::kFilters;
  const std::int64_t parts = is_rows ? 1 : s.parts();
  if (t.along_k) {  // rows of k, eight per pattern of the swizzle
    t.span = p.span;
    t.stride = 8 * p.span;
    t.box_inner = p.row();
    t.box_outer = t.tile / parts;
    t.boxes = s.k_atoms * parts;
    return t;
  }
  t.span = gemm_wgmma_span(is_rows ? 64 : s.columns(), p.bytes());
  if (t.span == 0) t.span = 32;  // for schedules that the space rejects
  const std::int64_t bk = s.k_atoms * p.row();
  t.box_inner = t.span / p.bytes();
  t.box_outer = bk;
  t.boxes = t.tile / t.box_inner;
  t.leading = bk * t.span;
  t.stride = 8 * t.span;
  return t;
}

GemmWgmmaStage gemm_wgmma_stage(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  const std::int64_t bytes = size_of(p.output);
  const std::int64_t columns = p.size.gated ? s.bn / 2 : s.bn;
  GemmWgmmaStage stage;
  stage.span = gemm_wgmma_span(columns, bytes);
  stage.box_columns = std::max<std::int64_t>(stage.span / bytes, 1);
  stage.rows = s.consumer_rows();
  stage.boxes = columns / stage.box_columns;
  stage.room = s.store == 2 ? 2 : stage.boxes;
  stage.parts = s.consumers;
  return stage;
}

bool gemm_wgmma_c_takes_rows(const GemmWgmmaSchedule& s) {
  return s.bm > s.bn;
}

SplitK gemm_wgmma_split_k(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  return {s.split_k, ceil_div(p.size.k, s.k_atoms * p.row())};
}

std::int64_t gemm_wgmma_addends(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  return p.accum == DType::kS32 ? s.split_k : 2;
}

GemmWgmmaGrid gemm_wgmma_grid(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s, const Limits& limits) {
  GemmWgmmaGrid grid;
  grid.rows = ceil_div(s.swap_ab == 1 ? p.size.n : p.size.m, s.bm);
  grid.columns = ceil_div(s.swap_ab == 1 ? p.size.m : p.size.n, s.bn);
  grid.tiles = grid.rows * grid.columns * p.size.batch;
  const std::int64_t at_once = cores_in_clusters(limits, s.cluster());
  grid.blocks = s.persistent == 1 ? std::min(grid.tiles, at_once) : grid.tiles;
  return grid;
}

// All warpgroups of a block share the registers of its launch: 168 per thread for 384 threads, and 128 for
// 512, as ptxas (13.0) sets them. The distributions of the public kernels (pranjalssh/fast.cu,
// ThunderKittens' bf16_h100) use all of them: 40 + 2 x 232 and 32 + 3 x 160. Two consumers with many sums get
// 240.
GemmWgmmaRegisters gemm_wgmma_registers(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  if (s.consumers == 3) return {32, 160};
  return gemm_wgmma_sums(p, s) > kSumsOfTwo ? GemmWgmmaRegisters{24, 240} : GemmWgmmaRegisters{40, 232};
}

// Without setmaxnreg, ptxas gives all threads as many registers as the neediest thread uses, so two or more
// blocks may fit on a multiprocessor. With setmaxnreg, a block is launched with all the registers that a lone
// block could have. One consumer and the producer can have 255 registers each without it. In blocks that
// split k, both kinds of threads execute the end of the kernel, for which ptxas would assume the producer's
// registers.
bool gemm_wgmma_deals_registers(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  return s.split_k == 1 && s.consumers > 1 && gemm_wgmma_sums(p, s) > kHardlyAnySums;
}

std::int64_t gemm_wgmma_shared_bytes(const GemmWgmmaProblem& p, const GemmWgmmaSchedule& s) {
  std::int64_t of_stages = 0;
  for (const bool is_rows : {true, false})
    of_stages += round_up(s.stages * gemm_wgmma_tile(p, s, is_rows).stage_elements() * p.bytes(),
                          kGemmWgmmaTileAlignment);
  const bool room_for_c = s.staged() && s.store != 3;
  const std::int64_t of_c = room_for_c ? gemm_wgmma_stage(p, s).elements() * size_of(p.output) : 0;
  const std::int64_t of_sums = 128 * s.consumers * s.accumulators() * size_of(p.accum);
  const std::int64_t of_split =
      (s.reduce != 0 ? of_sums : 0) + (s.split_k > 1 && s.reduce != 1 ? kSplitKSharedBytes : 0);
  return of_stages + of_c + 2 * round_up(s.stages * kBarrierBytes, 16) +
         (s.ping_pong == 1 ? 2 * kBarrierBytes : 0) + of_split;
}

}  // namespace lehr
