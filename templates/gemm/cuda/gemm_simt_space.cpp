#include "templates/gemm/cuda/gemm_simt_space.h"

#include <algorithm>

#include "base/ceil_div.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/product_view.h"

namespace lehr {
namespace {

constexpr std::int64_t kSharedAlignment = 16;  // launch_of() rounds every buffer up to it
// Registers for loop counters, positions, the two addresses in shared memory, and the addresses of an
// epilogue that goes through shared memory or a workspace. Fitted, with the weights in gemm_simt_registers(),
// to NVRTC 13.0 on sm_80 and sm_90a: 520 schedules were sampled from 8 registers below to 40 above their
// limit. No admitted schedule spills. The first schedules that spill are 3 registers above the limit.
constexpr std::int64_t kOtherRegisters = 29;
constexpr std::int64_t kEpilogueRegisters = 7;
/// Additional registers if parts of k are summed up in a tile that may extend beyond C: without them, one of
/// 50 sampled schedules with split k spilled 16 registers on sm_90a (NVRTC 13.0).
constexpr std::int64_t kGuardedSumRegisters = 16;
// Maximum number of loads of one operand in flight per thread. More loads would need more registers and code,
// and would not hide more latency.
constexpr std::int64_t kMaxLoads = 16;

std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return ceil_div(value, to) * to;
}

constexpr std::int64_t kLeastPooled = 32;

/// Returns the possible tile extents for a dimension. They are at least 32 unless the dimension is smaller,
/// and above 8 the dimension covers more than half of the tile.
std::vector<std::int64_t> tile_extents(std::int64_t extent) {
  std::vector<std::int64_t> extents;
  for (const std::int64_t tile : powers_of_two(1, 256)) {
    const bool large_enough = tile >= 32 || tile >= extent;
    const bool not_half_empty = tile <= 8 || tile < 2 * extent;
    if (large_enough && not_half_empty) extents.push_back(tile);
  }
  return extents;
}

/// Returns the possible elements per load, given the alignment of a row.
std::vector<std::int64_t> vector_widths(std::int64_t contiguous_extent, std::int64_t most) {
  std::vector<std::int64_t> widths = {1};
  if (most >= 2 && contiguous_extent % 2 == 0) widths.push_back(2);
  if (most >= 4 && contiguous_extent % 4 == 0) widths.push_back(4);
  return widths;
}

/// Returns whether a thread tile may have this extent: 4 to 16 if the block tile has at least 32, otherwise
/// any extent that fits.
bool is_thread_extent(std::int64_t extent, std::int64_t tile) {
  return extent <= tile && (tile < 32 || extent >= 4);
}

/// Returns all thread tile extents that at least one of `tiles` allows.
std::vector<std::int64_t> thread_extents(const std::vector<std::int64_t>& tiles) {
  std::vector<std::int64_t> extents = powers_of_two(1, 16);
  std::erase_if(extents, [&](std::int64_t extent) {
    return std::ranges::none_of(tiles, [=](std::int64_t tile) { return is_thread_extent(extent, tile); });
  });
  return extents;
}

/// Returns the `values` that are at most `limit`, and always the first value.
std::vector<std::int64_t> at_most(std::int64_t limit, std::vector<std::int64_t> values) {
  while (values.size() > 1 && values.back() > limit) values.pop_back();
  return values;
}

GemmSimtCopy copy_of(bool along_k, std::int64_t x, std::int64_t tile, std::int64_t vec, const ProductView& p,
                     const GemmSimtSchedule& s) {
  GemmSimtCopy copy;
  copy.along_k = along_k;
  copy.x = x;
  copy.k = p.k;
  copy.tile = tile;
  copy.bk = s.bk;
  copy.vec = vec;
  copy.kept = along_k && s.k_major == 1;
  copy.stride = (copy.kept ? s.bk : tile) + (along_k ? s.pad : 0);
  copy.threads = s.threads();
  return copy;
}

bool a_along_k(const ProductView& p) {
  return p.a == Layout::kRow;
}
bool b_along_k(const ProductView& p) {
  return p.b == Layout::kColumn;
}

}  // namespace

SplitK gemm_simt_split_k(const ProductView& p, const GemmSimtSchedule& s) {
  return {s.split_k, ceil_div(p.k, s.bk)};
}

std::int64_t gemm_simt_tiles(const ProductView& p, const GemmSimtSchedule& s) {
  return ceil_div(p.m, s.bm) * ceil_div(p.n, s.bn) * p.batch;
}

GemmSimtCopy gemm_simt_copy_a(const ProductView& p, const GemmSimtSchedule& s) {
  return copy_of(a_along_k(p), p.m, s.bm, s.vec_a, p, s);
}
GemmSimtCopy gemm_simt_copy_b(const ProductView& p, const GemmSimtSchedule& s) {
  return copy_of(b_along_k(p), p.n, s.bn, s.vec_b, p, s);
}

std::int64_t gemm_simt_registers(const ProductView& p, const GemmSimtSchedule& s) {
  const GemmSimtCopy a = gemm_simt_copy_a(p, s);
  const GemmSimtCopy b = gemm_simt_copy_b(p, s);
  const std::int64_t accumulators = s.tm * s.tn;
  const std::int64_t held = s.tm * (a.kept ? kQuad : 1) + s.tn * (b.kept ? kQuad : 1);
  const std::int64_t fragments = held * (s.frag_buffers + 1) / 2;
  const std::int64_t loads = a.loads() + b.loads();
  const std::int64_t in_flight = s.async == 1 ? 0 : a.loads() * a.vec + b.loads() * b.vec;
  const bool guarded = p.m % s.bm != 0 || p.n % s.bn != 0 || p.k % s.bk != 0;
  // Registers for address and predicate.
  const std::int64_t per_load = s.async == 1 ? (loads <= 8 ? 2 : 3) : guarded ? 2 : 1;
  const std::int64_t epilogue = (s.staged == 1 || s.split_k > 1 ? kEpilogueRegisters : 0) +
                                (s.split_k > 1 && guarded ? kGuardedSumRegisters : 0);
  return accumulators + fragments + in_flight + per_load * loads + epilogue + kOtherRegisters;
}

std::int64_t gemm_simt_shared_bytes(const ProductView& p, const GemmSimtSchedule& s) {
  const auto bytes = [&](const GemmSimtCopy& copy) {
    return round_up(s.stages * copy.elements() * 4, kSharedAlignment);
  };
  const std::int64_t staging = s.staged == 1 ? s.threads() * s.tn * 4 : 0;
  return bytes(gemm_simt_copy_a(p, s)) + bytes(gemm_simt_copy_b(p, s)) + round_up(staging, kSharedAlignment) +
         (s.split_k > 1 ? kSplitKSharedBytes : 0);
}

namespace {

using S = GemmSimtSchedule;
using Values = std::vector<std::int64_t>;

constexpr const char* kTooLittleShared =
    "needs more shared memory than the multiprocessor has for that many blocks";
constexpr const char* kTooFewRegisters = "needs more registers than a thread can have";

Values flags(bool both) {
  return both ? Values{0, 1} : Values{0};
}

bool any_along_k(const ProductView& p) {
  return a_along_k(p) || b_along_k(p);
}

/// Returns the possible numbers of rows of threads in a warp, given the smallest and the largest block tiles.
Values warp_rows(const Values& rows, const Values& columns) {
  Values all;
  for (const std::int64_t lanes : powers_of_two(1, 32)) {
    const bool fits = lanes <= rows.back() && 32 / lanes <= columns.back();
    const bool square = rows.front() >= 32 && columns.front() >= 32;
    if (fits && (!square || (lanes >= 2 && lanes <= 16))) all.push_back(lanes);
  }
  return all;
}

void tile_knobs(Knobs<S>& k, const Values& rows, const Values& columns, const Limits& limits) {
  k.knob(&S::bm, "bm", "rows of C per block", rows);
  k.knob(&S::bn, "bn", "columns of C per block", columns);
  k.knob(&S::tm, "tm", "rows of C per thread", thread_extents(rows));
  k.only([](const S& s) { return is_thread_extent(s.tm, s.bm); });
  k.knob(&S::tn, "tn", "columns of C per thread", thread_extents(columns));
  k.only([](const S& s) { return is_thread_extent(s.tn, s.bn); });
  const std::int64_t most_threads = limits.max_threads_per_block;
  k.forbid("too many threads", [=](const S& s) { return s.threads() > most_threads; });
  k.forbid("too many accumulators", [](const S& s) { return s.tm * s.tn > 128; });
  k.knob(&S::lanes_m, "lanes_m", "rows of threads in a warp", warp_rows(rows, columns));
  k.forbid("a warp does not fit the block tile",
           [](const S& s) { return s.bm % (s.lanes_m * s.tm) != 0 || s.bn % s.warp_columns() != 0; });
  k.forbid("a warp is a single row or column of a square tile",
           [](const S& s) { return s.bm >= 32 && s.bn >= 32 && (s.lanes_m < 2 || s.lanes_m > 16); });
}

void depth_knobs(Knobs<S>& k, const ProductView& p, const Limits& limits) {
  k.knob(&S::bk, "bk", "k per tile", at_most(2 * p.k - 1, {8, 16, 32}));
  k.knob(&S::split_k, "split_k", "blocks that share a tile of C, each with its part of k",
         split_k_values(p.k));
  const int cores = limits.cores;
  k.forbid("k is too short to be split, or the grid is large without that", [=](const S& s) {
    const std::int64_t tiles = gemm_simt_tiles(p, s);
    return !may_split_k(gemm_simt_split_k(p, s), p.k, tiles, tiles * s.bm * s.bn * 4, cores);
  });
  // The first tile of k is the partial one, and only one part of k begins with it.
  k.forbid("blocks that split k take whole tiles of it",
           [=](const S& s) { return s.split_k > 1 && p.k % s.bk != 0; });
  const bool async = limits.has(Ability::kAsyncCopies);
  k.knob(&S::async, "async", "tiles come by 0: registers, 1: cp.async", flags(async));
  k.knob(&S::stages, "stages", "tiles in shared memory",
         at_most(std::max<std::int64_t>(2, ceil_div(p.k, 8)), async ? Values{1, 2, 3, 4, 5} : Values{1, 2}));
  k.only([](const S& s) { return s.async == 1 ? s.stages >= 2 : s.stages <= 2; });
  k.forbid("more stages than tiles of k",
           [=](const S& s) { return s.stages > std::max<std::int64_t>(2, gemm_simt_split_k(p, s).most()); });
}

void copy_knobs(Knobs<S>& k, const GemmSimtForm& form, const Limits& limits) {
  const ProductView p = form.problem;
  k.knob(&S::k_major, "k_major",
         "tiles of operands contiguous along k: 0: transposed, 1: kept, read 4 k at a time",
         flags(any_along_k(p)));
  // cp.async copies contiguous elements to contiguous elements, so it can transpose a row along k only
  // element by element.
  const auto scatters = [](bool along_k, const S& s) { return along_k && s.k_major == 0 && s.async == 1; };
  k.knob(&S::vec_a, "vec_a", "elements per load of A",
         vector_widths(a_along_k(p) ? p.k : p.m, form.vector_a));
  k.only([=](const S& s) { return s.vec_a == 1 || !scatters(a_along_k(p), s); });
  k.knob(&S::vec_b, "vec_b", "elements per load of B",
         vector_widths(b_along_k(p) ? p.k : p.n, form.vector_b));
  k.only([=](const S& s) { return s.vec_b == 1 || !scatters(b_along_k(p), s); });
  k.forbid("a vector is longer than the tile", [=](const S& s) {
    return s.vec_a > (a_along_k(p) ? s.bk : s.bm) || s.vec_b > (b_along_k(p) ? s.bk : s.bn);
  });
  // A row has 8, 16 or 32 elements of k. If rows are 4 elements further apart, the reads of 8 rows go to
  // distinct banks.
  k.knob(&S::pad, "pad", "elements behind a row of a tile whose operand is contiguous along k",
         any_along_k(p) ? Values{0, 4} : Values{0});
  k.only([](const S& s) { return s.k_major == 0 || s.pad == 4; });
  k.forbid("too many loads per thread", [=](const S& s) {
    return gemm_simt_copy_a(p, s).loads() > kMaxLoads || gemm_simt_copy_b(p, s).loads() > kMaxLoads;
  });
  const std::int64_t shared_bytes = limits.shared_bytes_per_block;
  k.forbid("needs more shared memory than a block may have", [=](S s) {
    s.staged = 0;
    return gemm_simt_shared_bytes(p, s) > shared_bytes;
  });
}

bool shared_fits(const ProductView& p, const S& s, const Limits& limits) {
  const std::int64_t bytes = gemm_simt_shared_bytes(p, s);
  return bytes <= limits.shared_bytes_per_block && cuda::shared_memory_holds(limits, s.min_blocks, bytes);
}

bool registers_fit(const GemmSimtForm& form, const S& s, const Limits& limits) {
  const ProductView& p = form.problem;
  const GemmSimtCopy gathered = form.gathers_a ? gemm_simt_copy_a(p, s) : gemm_simt_copy_b(p, s);
  const std::int64_t gather = form.registers_per_gather * gathered.loads();
  return gemm_simt_registers(p, s) + form.more_registers + gather <=
         cuda::registers_granted(limits, s.min_blocks, s.threads());
}

/// Adds the knobs that decide how many blocks fit on a multiprocessor. A schedule that stages C is first
/// checked without that, which needs less memory.
void residence_knobs(Knobs<S>& k, const GemmSimtForm& form, const Limits& limits) {
  const ProductView p = form.problem;
  k.knob(&S::min_blocks, "min_blocks", "blocks that a multiprocessor must hold", {1, 2, 3});
  k.forbid(kTooLittleShared, [=](S s) {
    s.staged = 0;
    return !shared_fits(p, s, limits);
  });
  k.forbid("needs more threads than the multiprocessor has for that many blocks",
           [=](const S& s) { return s.min_blocks * s.threads() > limits.max_threads_per_core; });
  k.knob(&S::frag_buffers, "frag_buffers", "fragments in registers: this k's, or the next k's too", {1, 2});
  k.only([](const S& s) { return s.k_major == 0 || s.frag_buffers == 1; });
  k.forbid(kTooFewRegisters, [=](S s) {
    s.staged = 0;
    return !registers_fit(form, s, limits);
  });
  k.knob(&S::unroll, "unroll", "k steps unrolled", powers_of_two(1, 32));
  // Two fragment buffers take turns, so `unroll` must be even; a kept tile is read four k at a time.
  k.only(
      [](const S& s) { return s.unroll >= (s.k_major == 1 ? kQuad : s.frag_buffers) && s.unroll <= s.bk; });
  k.forbid("too much code", [](const S& s) { return s.tm * s.tn * s.unroll > 1024; });
}

void raster_knob(Knobs<S>& k, const ProductView& p, std::int64_t least_rows) {
  k.knob(&S::raster, "raster", "rows of block tiles walked together, for the L2",
         at_most(ceil_div(p.m, least_rows), {1, 2, 4, 8}));
  k.forbid("more rows of block tiles walked together than there are",
           [=](const S& s) { return s.raster > 1 && s.raster > ceil_div(p.m, s.bm); });
  k.forbid("the order of one column of block tiles has no meaning",
           [=](const S& s) { return s.raster > 1 && p.n <= s.bn; });
}

void staged_knob(Knobs<S>& k, const GemmSimtForm& form, const Limits& limits) {
  const ProductView p = form.problem;
  k.knob(&S::staged, "staged", "C goes out 0: from registers, 1: through shared memory", {0, 1});
  k.forbid("blocks that split k write C from registers",
           [](const S& s) { return s.split_k > 1 && s.staged == 1; });
  if (p.gated)
    k.forbid("a thread does not store columns in pairs", [=](const S& s) {
      const bool side_by_side = s.staged == 1 || s.k_major == 0 || !b_along_k(p);
      return s.tn < 2 || !side_by_side;
    });
  if (form.pools)
    k.forbid("a thread does not store whole windows from registers", [=](const S& s) {
      const std::int64_t side = form.gathers_a ? s.tm : s.tn;
      return s.staged == 1 || side < 4 || (form.gathers_a && s.k_major == 1);
    });
  k.forbid(kTooLittleShared, [=](const S& s) { return !shared_fits(p, s, limits); });
  k.forbid(kTooFewRegisters, [=](const S& s) { return !registers_fit(form, s, limits); });
}

}  // namespace

void gemm_simt_form_knobs(Knobs<S>& k, const GemmSimtForm& form, const Limits& limits) {
  const ProductView& p = form.problem;
  // With a pool, a thread holds four neighbouring pixels, so that a tile of fewer pixels is too small for a
  // warp.
  const std::int64_t least = form.pools ? kLeastPooled : 1;
  const Values rows = tile_extents(form.gathers_a ? std::max(p.m, least) : p.m);
  const Values columns = tile_extents(form.gathers_a ? p.n : std::max(p.n, least));
  tile_knobs(k, rows, columns, limits);
  depth_knobs(k, p, limits);
  copy_knobs(k, form, limits);
  residence_knobs(k, form, limits);
  raster_knob(k, p, rows.front());
  staged_knob(k, form, limits);
}

void gemm_simt_knobs(Knobs<S>& k, const Workload& workload, const Limits& limits) {
  gemm_simt_form_knobs(k, {.problem = product_view(workload)}, limits);
}

// Chooses 128 x 128 with 8 x 8 per thread, the tile of public SGEMMs (siboehm/SGEMM_CUDA, salykova/sgemm.cu,
// CUTLASS's list). Chooses smaller tiles if multiprocessors would be left without a block.
GemmSimtSchedule gemm_simt_wanted(const Workload& workload, const Limits& limits) {
  return gemm_simt_form_wanted({.problem = product_view(workload)}, limits);
}

GemmSimtSchedule gemm_simt_form_wanted(const GemmSimtForm& form, const Limits& limits) {
  const ProductView& p = form.problem;
  const auto blocks = [&](std::int64_t bm, std::int64_t bn) {
    return ceil_div(p.m, bm) * ceil_div(p.n, bn) * p.batch;
  };
  const bool large = blocks(128, 128) >= limits.cores;
  const bool medium = blocks(64, 64) >= limits.cores;
  S s;
  s.bm = s.bn = large ? 128 : medium ? 64 : 32;
  s.tm = s.tn = large ? 8 : 4;
  s.lanes_m = 4;
  s.bk = large ? 8 : 16;
  s.split_k = default_split_k(p.k, blocks(s.bm, s.bn), limits.cores);
  s.async = 0;
  s.stages = 2;
  s.k_major = 0;
  s.vec_a = 4;
  s.vec_b = 4;
  s.pad = 4;
  s.min_blocks = large ? 2 : 1;
  s.frag_buffers = 2;
  s.unroll = 8;
  s.raster = 4;
  s.staged = p.n % 4 == 0 ? 0 : 1;  // for rows of C that 128-bit stores cannot write
  return s;
}

}  // namespace lehr
