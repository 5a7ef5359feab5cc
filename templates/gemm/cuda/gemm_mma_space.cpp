#include "templates/gemm/cuda/gemm_mma_space.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>

#include "base/ceil_div.h"
#include "base/error.h"
#include "base/text.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/product_view.h"

namespace lehr {
namespace {

// Registers for loop counters, positions, and the addresses of both operands in global and shared memory.
// Fitted, with the weights in gemm_mma_registers(), to NVRTC 13.0 on sm_80 and sm_90a: sampled schedules that
// are admitted do not spill.
constexpr std::int64_t kOtherRegisters = 44;
// Registers of a convolution in addition to those of a plain product: for taps, for the pixel of each copy by
// cp.async, and for the pixel of an element that goes through registers (in addition to copy_registers()).
// They suffice for up to kMaxCopies such copies: with twice as many, ten of 150 sampled schedules spilled.
// Checked by the NVRTC test of conv2d_mma.
constexpr std::int64_t kViewRegisters = 16;
constexpr std::int64_t kViewRegistersOfCopy = 6;
constexpr std::int64_t kViewRegistersOfLoad = 3;
// Number of tiles ahead of the main loop, not counting the first, that cost one more register for each copy
// by cp.async. Their copies are unrolled, and ptxas computes the pixels of all of them together. 16 copies
// took 108 registers with two stages, 208 with three and 254 with four, where some schedules spilled. Two
// schedules with 8 copies and eight stages spilled as well; this constant rejects one of them.
constexpr std::int64_t kTilesAheadOfViewRegister = 3;
// Additional registers if taps of the filter are left out.
constexpr std::int64_t kTrimmedRegisters = 8;
// Registers for the partial sums of a single step.
constexpr std::int64_t kFirstLevelRegisters = 4;
// Weight of 8-bit floats. sm_90 has no mma.sync for them: ptxas converts the fragments to f16, long before it
// multiplies them. With small warp tiles it can convert less ahead.
constexpr std::int64_t k8BitFloatFactor = 7;
constexpr std::int64_t k8BitFloatFactorOfSmallTiles = 4;
// Maximum number of copies of one operand per thread. More copies cost registers for addresses and code, and
// hide no more latency.
constexpr std::int64_t kMaxCopies = 16;
// Maximum number of loads per thread of single elements other than pixels. In tiny problems, few threads
// share them.
constexpr std::int64_t kMaxLoads = 32;
// For 3xTF32: maximum number of registers for all fragments of a tile, high and low halves. On sm_90, ptxas
// splits the operands of all steps before the products, and keeps the first sums of many steps in flight. Of
// 387 sampled schedules with up to 96 registers none spilled; five of 13 with 128 did.
constexpr std::int64_t kMaxSplitFragments = 96;
// Number of tiles ahead of the main loop, not counting the first, that cost one more register for each copy
// through registers. Their copies are unrolled, and ptxas moves the loads of all of them together. 2 x 16
// such copies took 154 registers with two stages and 203 with four; with eight stages they spilled.
constexpr std::int64_t kTilesAheadOfRegister = 2;
// Maximum number of mma instructions in the text of one tile's main loop.
constexpr std::int64_t kMaxUnrolledMmas = 256;

/// An instruction, the ability that it requires of an architecture, and the first architecture that has it.
struct Row {
  DType operand;
  DType accum;
  StaticText instruction;
  Ability needed;
  std::string_view first;
};
constexpr std::array<Row, 6> kInstructions = {{
    {DType::kBF16, DType::kF32, "mma_m16n8k16_f32_bf16", Ability::kBF16, "sm_80"},
    {DType::kF16, DType::kF32, "mma_m16n8k16_f32_f16", Ability::kMmaF16K16, "sm_80"},
    {DType::kF32, DType::kF32, "mma_m16n8k8_f32_tf32", Ability::kMmaTf32, "sm_80"},
    {DType::kS8, DType::kS32, "mma_m16n8k32_s32_s8", Ability::kMmaS8K32, "sm_80"},
    {DType::kE4M3, DType::kF32, "mma_m16n8k32_f32_e4m3", Ability::kMmaF8, "sm_89"},
    {DType::kE5M2, DType::kF32, "mma_m16n8k32_f32_e5m2", Ability::kMmaF8, "sm_89"},
}};
/// The instruction that all architectures with tensor cores have. Two of these do the work of one f16
/// instruction above.
constexpr StaticText kHalfOfF16 = "mma_m16n8k8_f32_f16";

/// Returns nullptr if tensor cores do not multiply these types.
const Row* instruction_of(DType operand, DType accum) {
  for (const Row& row : kInstructions)
    if (row.operand == operand && row.accum == accum) return &row;
  return nullptr;
}

/// Returns the possible tile extents for a dimension: 16, and larger powers of two if the dimension covers
/// more than half of the tile.
std::vector<std::int64_t> tile_extents(std::int64_t extent) {
  std::vector<std::int64_t> extents;
  for (const std::int64_t tile : powers_of_two(16, 256))
    if (tile == 16 || tile < 2 * extent) extents.push_back(tile);
  return extents;
}

std::vector<std::int64_t> up_to(std::int64_t limit, std::vector<std::int64_t> values) {
  while (values.size() > 1 && values.back() > limit) values.pop_back();
  return values;
}

GemmMmaTile tile_of(const GemmMmaProblem& p, const GemmMmaSchedule& s, bool along_k, std::int64_t x,
                    std::int64_t tile, std::int64_t warp_tile, bool is_image) {
  GemmMmaTile t;
  t.along_k = along_k;
  t.gathered = !along_k && p.bytes() != 2;
  t.x = x;
  t.k = p.size.k;
  t.tile = tile;
  t.bk = s.bk;
  t.warp_tile = warp_tile;
  t.chunk = p.chunk();
  std::int64_t run = along_k ? t.k : x;
  if (p.image) run = is_image ? image_run(p.image->conv) : filter_run(*p.image);
  const std::int64_t run_bytes = run * p.bytes();
  t.vec = run_bytes % 16 == 0 ? t.chunk : run_bytes % 8 == 0 ? t.chunk / 2 : t.chunk / 4;
  if (run_bytes % 4 != 0) t.vec = 1;
  t.async = p.async_copies && run_bytes % 4 == 0;
  t.lines = along_k ? tile : s.bk;
  t.line = along_k ? s.bk : tile;
  // 8 more words per line distribute the four lines that a gathering warp reads over all banks (32-bit
  // elements).
  t.stride = t.line + (t.gathered ? (p.bytes() == 4 ? 8 : 16) : 0);
  t.threads = s.threads();
  return t;
}

std::int64_t copy_registers(const GemmMmaTile& t, std::int64_t stages) {
  if (!t.async) {  // registers for the elements in flight, and for addresses
    const std::int64_t words = ceil_div(t.vec * 4, t.chunk);
    return ((2 * words + 3) * t.copies() + 1) / 2 + (stages - 2) * t.copies() / kTilesAheadOfRegister;
  }
  const bool guarded = t.x % t.tile != 0 || t.k % t.bk != 0;
  if (guarded && t.copies() >= 8) return (t.copies() > 8 ? 4 : 2) * t.copies();
  return t.copies() <= 4 ? t.copies() : (t.copies() + 4) / 2;
}

std::optional<std::string> why_not_types(const Gemm& g) {
  if (g.a.type != g.b.type)
    return fmt::format("A and B must have one type, not {} and {}", name_of(g.a.type), name_of(g.b.type));
  if (instruction_of(g.a.type, g.accum) == nullptr)
    return fmt::format(
        "tensor cores multiply f16, bf16, tf32, s8, e4m3 and e5m2 with sums in f32 (s8: s32), not {} "
        "with sums in {}",
        name_of(g.a.type), name_of(g.accum));
  if (g.a.type == DType::kF32 && g.math == Math::kStrict)
    return "tensor cores round f32 to tf32; math=tf32 or math=3xtf32 permits it";
  const bool fits = g.c.type == g.accum || (g.c.type == g.a.type && size_of(g.a.type) == 2) ||
                    (is_8_bit_float(g.a.type) && size_of(g.c.type) == 2 && !is_integer(g.c.type));
  if (!fits) return fmt::format("it cannot store sums in {} as {}", name_of(g.accum), name_of(g.c.type));
  return std::nullopt;
}

}  // namespace

std::optional<std::string> why_not_gemm_mma(const Gemm& g, const Limits& limits) {
  if (auto reason = why_not_types(g)) return reason;
  const Row& row = *instruction_of(g.a.type, g.accum);
  if (g.a.type != DType::kF16 && !limits.has(row.needed))
    return fmt::format("mma.sync of {} needs {} or newer, not {}",
                       g.a.type == DType::kF32 ? "tf32" : name_of(g.a.type), row.first, limits.arch);
  return cuda::why_no_grid(g);
}

GemmMmaProblem gemm_mma_problem(const Workload& workload, const Limits& limits) {
  const Gemm& g = workload.gemm();
  GemmMmaProblem p;
  p.size = product_view(workload);
  p.operand = g.a.type;
  p.output = g.c.type;
  p.accum = g.accum;
  const Row* const row = instruction_of(g.a.type, g.accum);
  CHECK(row != nullptr);
  p.instructions = limits.has(row->needed) ? 1 : 2;
  p.instruction = p.instructions == 1 ? row->instruction : kHalfOfF16;
  p.async_copies = limits.has(Ability::kAsyncCopies);
  p.passes = g.math == Math::k3xTf32 ? 3 : 1;
  p.rounds = g.a.type == DType::kF32;
  p.two_level = g.math == Math::kTwoLevel || p.passes == 3;
  return p;
}

SplitK gemm_mma_split_k(const GemmMmaProblem& p, const GemmMmaSchedule& s) {
  return {s.split_k, ceil_div(p.size.k, s.bk)};
}

std::int64_t gemm_mma_tiles(const GemmMmaProblem& p, const GemmMmaSchedule& s) {
  return ceil_div(p.size.m, s.bm) * ceil_div(p.size.n, s.bn) * p.size.batch;
}

GemmMmaTile gemm_mma_tile_a(const GemmMmaProblem& p, const GemmMmaSchedule& s) {
  return tile_of(p, s, p.a_along_k(), p.size.m, s.bm, s.wm, p.image && !p.pixels_are_columns());
}
GemmMmaTile gemm_mma_tile_b(const GemmMmaProblem& p, const GemmMmaSchedule& s) {
  return tile_of(p, s, p.b_along_k(), p.size.n, s.bn, s.wn, p.pixels_are_columns());
}

std::int64_t gemm_mma_c_stride(const GemmMmaSchedule& s) {
  return s.bn + 8;  // the 4 rows that half a warp writes at a time then begin 8 banks apart
}

std::int64_t gemm_mma_c_vector(const GemmMmaProblem& p, const GemmMmaSchedule& s) {
  std::int64_t vec = std::min<std::int64_t>(4, s.bm * s.bn / s.threads());
  while (p.size.n % vec != 0) vec /= 2;
  return vec;
}

std::int64_t gemm_mma_registers(const GemmMmaProblem& p, const GemmMmaSchedule& s) {
  const std::int64_t accumulators = s.wm * s.wn / 32;
  const std::int64_t copies_of_each = !is_8_bit_float(p.operand) ? (p.passes == 3 ? 2 : 1)
                                      : s.wm + s.wn <= 48        ? k8BitFloatFactorOfSmallTiles
                                                                 : k8BitFloatFactor;
  const std::int64_t fragments = (s.wm + s.wn) / 16 * 4 * s.frag_buffers * copies_of_each;
  const GemmMmaTile a = gemm_mma_tile_a(p, s);
  const GemmMmaTile b = gemm_mma_tile_b(p, s);
  const GemmMmaTile& pixels = p.pixels_are_columns() ? b : a;
  const std::int64_t of_each = pixels.async ? kViewRegistersOfCopy : kViewRegistersOfLoad;
  const std::int64_t ahead = pixels.async ? (s.stages - 2) * pixels.copies() / kTilesAheadOfViewRegister : 0;
  const std::int64_t trimmed = p.image && p.image->is_trimmed() ? kTrimmedRegisters : 0;
  const std::int64_t view = p.image ? kViewRegisters + of_each * pixels.copies() + ahead + trimmed : 0;
  const std::int64_t first_level = p.two_level ? kFirstLevelRegisters : 0;
  return accumulators + first_level + fragments + copy_registers(a, s.stages) + copy_registers(b, s.stages) +
         view + kOtherRegisters;
}

std::int64_t gemm_mma_shared_bytes(const GemmMmaProblem& p, const GemmMmaSchedule& s) {
  const std::int64_t elements =
      gemm_mma_tile_a(p, s).stage_elements() + gemm_mma_tile_b(p, s).stage_elements();
  const std::int64_t c = s.staged() ? s.k_warps * s.bm * gemm_mma_c_stride(s) * 4 : 0;
  return s.stages * elements * p.bytes() + c + (s.split_k > 1 ? kSplitKSharedBytes : 0);
}

namespace {

using S = GemmMmaSchedule;
using Problem = GemmMmaProblem;

std::vector<std::int64_t> warp_tiles(std::int64_t extent) {
  return powers_of_two(16, std::min<std::int64_t>(tile_extents(extent).back(), 128));
}

void tile_knobs(Knobs<S>& k, const ProductView& size) {
  k.knob(&S::bm, "bm", "rows of C per block", tile_extents(size.m));
  k.knob(&S::bn, "bn", "columns of C per block", tile_extents(size.n));
  k.knob(&S::wm, "wm", "rows of C per warp", warp_tiles(size.m));
  k.only([](const S& s) { return s.wm <= s.bm; });
  k.knob(&S::wn, "wn", "columns of C per warp", warp_tiles(size.n));
  k.only([](const S& s) { return s.wn <= s.bn; });
  k.forbid("more accumulators than a thread can hold", [](const S& s) {
    return s.wm * s.wn > 32 * 128 || (std::max(s.wm, s.wn) >= 128 && std::min(s.wm, s.wn) > 32);
  });
  k.forbid("a warp tile much smaller than the block tile",
           [](const S& s) { return s.warps_m() > 4 || s.warps_n() > 4; });
}

bool too_much_code(const Problem& p, const S& s) {
  const std::int64_t steps = s.bk / p.mma_k() / s.k_warps;
  // On sm_90, ptxas replaces one mma of 8-bit floats by f16 instructions and conversions. It moves the
  // conversions ahead until it spills: observed with 64 mma in the text, never with 32.
  const std::int64_t of_each = is_8_bit_float(p.operand) ? 8 : p.passes * p.instructions;
  if (p.passes == 3 && steps * (s.wm + s.wn) / 16 * 4 * 2 > kMaxSplitFragments) return true;
  return steps * (s.wm / 16) * (s.wn / 8) * of_each > kMaxUnrolledMmas;
}

bool too_many_copies(const Problem& p, const S& s) {
  const auto few = [](const GemmMmaTile& t, bool pixels) {
    return t.copies() <= (t.async || pixels || t.vec > 1 ? kMaxCopies : kMaxLoads);
  };
  return !few(gemm_mma_tile_a(p, s), p.image && !p.pixels_are_columns()) ||
         !few(gemm_mma_tile_b(p, s), p.pixels_are_columns());
}

void depth_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  const std::int64_t unit = p.mma_k();
  std::vector<std::int64_t> tiles_of_k =
      up_to(2 * std::max(p.size.k, unit) - 1, {2 * unit, 4 * unit, 8 * unit, 16 * unit});
  // Half of a larger tile would be padding.
  if (p.size.k <= unit) tiles_of_k.insert(tiles_of_k.begin(), unit);
  k.knob(&S::bk, "bk", "k per tile", tiles_of_k);
  k.knob(&S::k_warps, "k_warps", "warps that split the k of a tile",
         up_to(ceil_div(p.size.k, unit), {1, 2, 4, 8}));
  k.forbid("more warps along k than the tile has steps", [=](const S& s) { return s.k_warps * unit > s.bk; });
  k.forbid("warps that split k are for small block tiles",
           [](const S& s) { return s.k_warps > 1 && s.bm * s.bn > 64 * 64; });
  k.forbid("too many threads",
           [=](const S& s) { return s.threads() > std::min(512, limits.max_threads_per_block); });
  k.forbid("too much code", [=](const S& s) { return too_much_code(p, s); });
  if (p.size.gated)
    k.forbid("a thread does not store columns in pairs",
             [](const S& s) { return s.bm * s.bn / s.threads() < 2; });
  k.forbid("too many copies per thread", [=](const S& s) { return too_many_copies(p, s); });
  k.knob(&S::split_k, "split_k", "blocks that share a tile of C, each with its part of k",
         split_k_values(p.size.k));
  k.forbid("k is too short to be split, or the grid is large without that", [=](const S& s) {
    const std::int64_t tiles = gemm_mma_tiles(p, s);
    return !may_split_k(gemm_mma_split_k(p, s), p.size.k, tiles, tiles * s.bm * s.bn * 4, limits.cores);
  });
}

void memory_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  k.knob(&S::stage_c, "stage_c", "C goes 0: from registers, 1: through shared memory", {0, 1});
  k.only([](const S& s) { return s.stage_c == 1 || s.k_warps == 1; });
  if (p.window_pixels() > 1)
    k.forbid("windows are pooled on their way through shared memory",
             [](const S& s) { return s.split_k > 1 || s.stage_c == 0; });
  k.forbid("blocks that split k and stage C have no registers for so many sums and their places",
           [](const S& s) { return s.split_k > 1 && s.stage_c == 1 && s.bm * s.bn / s.threads() > 64; });
  k.knob(&S::stages, "stages", "tiles in shared memory",
         up_to(std::max<std::int64_t>(2, ceil_div(p.size.k, 2 * p.mma_k())),
               p.async_copies ? std::vector<std::int64_t>{2, 3, 4, 5, 6, 8} : std::vector<std::int64_t>{2}));
  k.forbid("more stages than tiles of k",
           [=](const S& s) { return s.stages > std::max<std::int64_t>(2, gemm_mma_split_k(p, s).most()); });
  k.forbid("needs more shared memory than a block may have",
           [=](const S& s) { return gemm_mma_shared_bytes(p, s) > limits.shared_bytes_per_block; });
}

void residence_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  const std::int64_t unit = p.mma_k();
  k.knob(&S::frag_buffers, "frag_buffers", "fragments in registers: this k's, or the next k's too", {1, 2});
  k.forbid("fragments of the next k need a second step",
           [=](const S& s) { return s.frag_buffers == 2 && s.bk < 2 * unit * s.k_warps; });
  k.knob(&S::min_blocks, "min_blocks", "blocks that a multiprocessor must hold", {1, 2, 3});
  k.forbid("needs more shared memory than the multiprocessor has for that many blocks", [=](const S& s) {
    return !cuda::shared_memory_holds(limits, s.min_blocks, gemm_mma_shared_bytes(p, s));
  });
  k.forbid("needs more threads than the multiprocessor has for that many blocks",
           [=](const S& s) { return s.min_blocks * s.threads() > limits.max_threads_per_core; });
  k.forbid("needs more registers than a thread can have", [=](const S& s) {
    return gemm_mma_registers(p, s) > cuda::registers_granted(limits, s.min_blocks, s.threads());
  });
}

}  // namespace

void gemm_mma_knobs(Knobs<S>& k, const Workload& workload, const Limits& limits) {
  gemm_mma_problem_knobs(k, gemm_mma_problem(workload, limits), limits);
}

void gemm_mma_problem_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  tile_knobs(k, p.size);
  depth_knobs(k, p, limits);
  memory_knobs(k, p, limits);
  residence_knobs(k, p, limits);
  const std::int64_t m = p.size.m, n = p.size.n;
  k.knob(&S::raster, "raster", "rows of block tiles walked together, for the L2",
         up_to(ceil_div(m, 16), {1, 2, 4, 8}));
  k.forbid("more rows of block tiles walked together than there are",
           [=](const S& s) { return s.raster > 1 && s.raster > ceil_div(m, s.bm); });
  k.forbid("the order of one column of block tiles has no meaning",
           [=](const S& s) { return s.raster > 1 && n <= s.bn; });
}

// Chooses tiles of 128 x 128 for large products, in four warps of 64 x 64, as in CUTLASS's list for sm_80.
// Chooses smaller tiles if multiprocessors would be left without a block. For few rows or columns, warps
// split k. If most multiprocessors still have no block, blocks split k as well.
GemmMmaSchedule gemm_mma_wanted(const Workload& workload, const Limits& limits) {
  return gemm_mma_problem_wanted(gemm_mma_problem(workload, limits), limits);
}

GemmMmaSchedule gemm_mma_problem_wanted(const GemmMmaProblem& p, const Limits& limits) {
  const std::int64_t unit = p.mma_k();
  GemmMmaSchedule s;
  s.bk = 2 * unit;
  s.raster = 4;
  const std::int64_t large = gemm_mma_tiles(p, s);
  if (std::min(p.size.m, p.size.n) <= 32) {
    const std::int64_t few = std::min(p.size.m, p.size.n) <= 16 ? 16 : 32;
    const bool rows = p.size.m <= p.size.n;
    s.bm = s.wm = rows ? few : 32;
    s.bn = s.wn = rows ? 32 : few;
    s.bk = 8 * unit;
    s.k_warps = 4;
    s.stage_c = 1;
    s.stages = 6;
    s.raster = 1;
  } else if (large < limits.cores) {
    s.bm = s.bn = 64;
    s.wm = s.wn = 32;
    s.bk = p.passes == 3 ? 2 * unit : 4 * unit;
    s.stages = 5;
  } else if (p.passes == 3) {
    s.wn = 32;
  }
  if (p.size.k <= unit) s.bk = unit;
  if (!p.async_copies) s.stages = 2;  // the tile in flight is in registers
  s.split_k = default_split_k(p.size.k, gemm_mma_tiles(p, s), limits.cores);
  return s;
}

}  // namespace lehr
