#include "templates/gemm_simt_space.h"

#include <algorithm>

#include "templates/cuda_common.h"

namespace lehr {
namespace {

using cpu::ceil_div;

constexpr std::int64_t kSharedAlignment = 16;  // launch_of() rounds every buffer up to it
// Loop counters, places, the two shared addresses; and the addresses of an epilogue that goes through shared
// memory or a workspace. Fitted, with the weights in gemm_simt_registers(), to NVRTC 13.0 on sm_80 and
// sm_90a: of 520 sampled schedules within 8 registers below and 40 above their limit, those that are let
// through do not spill, and the first that spill are 3 registers above.
constexpr std::int64_t kOtherRegisters = 29;
constexpr std::int64_t kEpilogueRegisters = 7;
/// More where parts of k are summed up into a tile that may reach over C's edge: one of 50 sampled split
/// schedules spilled 16 registers on sm_90a without it (NVRTC 13.0).
constexpr std::int64_t kGuardedSumRegisters = 16;
// More loads of one operand in flight than this cost registers and code, and hide no more latency.
constexpr std::int64_t kMaxLoads = 16;

std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return ceil_div(value, to) * to;
}

constexpr std::int64_t kLeastPooled = 32;

/// Tile extents for a dimension: no smaller than 32 unless the dimension is, and none that is half empty
/// above 8.
std::vector<std::int64_t> tile_extents(std::int64_t extent) {
  std::vector<std::int64_t> extents;
  for (const std::int64_t tile : powers_of_two(1, 256)) {
    const bool large_enough = tile >= 32 || tile >= extent;
    const bool not_half_empty = tile <= 8 || tile < 2 * extent;
    if (large_enough && not_half_empty) extents.push_back(tile);
  }
  return extents;
}

/// Elements per load that the alignment of a row permits.
std::vector<std::int64_t> vector_widths(std::int64_t contiguous_extent, std::int64_t most) {
  std::vector<std::int64_t> widths = {1};
  if (most >= 2 && contiguous_extent % 2 == 0) widths.push_back(2);
  if (most >= 4 && contiguous_extent % 4 == 0) widths.push_back(4);
  return widths;
}

/// Thread tiles: 4 to 16 where the block tile has at least 32, else what fits.
std::vector<std::int64_t> thread_extents(std::int64_t tile) {
  std::vector<std::int64_t> extents;
  for (const std::int64_t extent : powers_of_two(1, 16)) {
    if (extent <= tile && (tile < 32 || extent >= 4)) extents.push_back(extent);
  }
  return extents;
}

/// All thread tiles that some of `tiles` allows.
std::vector<std::int64_t> all_thread_extents(const std::vector<std::int64_t>& tiles) {
  std::vector<std::int64_t> all;
  for (const std::int64_t extent : powers_of_two(1, 16)) {
    const bool allowed = std::any_of(tiles.begin(), tiles.end(), [&](std::int64_t tile) {
      const std::vector<std::int64_t> some = thread_extents(tile);
      return std::find(some.begin(), some.end(), extent) != some.end();
    });
    if (allowed) all.push_back(extent);
  }
  return all;
}

/// Those of `values` that are at most `limit`, and the first in any case.
std::vector<std::int64_t> at_most(std::int64_t limit, std::vector<std::int64_t> values) {
  while (values.size() > 1 && values.back() > limit) values.pop_back();
  return values;
}

GemmSimtCopy copy_of(bool along_k, std::int64_t x, std::int64_t tile, std::int64_t vec, const cpu::Problem& p,
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

bool a_along_k(const cpu::Problem& p) {
  return p.a == Layout::kRow;
}
bool b_along_k(const cpu::Problem& p) {
  return p.b == Layout::kColumn;
}

}  // namespace

GemmSimtSchedule gemm_simt_schedule(const Config& config) {
  KnobReader knobs(config);
  GemmSimtSchedule s;
  s.bm = knobs.at("bm");
  s.bn = knobs.at("bn");
  s.tm = knobs.at("tm");
  s.tn = knobs.at("tn");
  s.lanes_m = knobs.at("lanes_m");
  s.bk = knobs.at("bk");
  s.split_k = knobs.at("split_k");
  s.async = knobs.at("async");
  s.stages = knobs.at("stages");
  s.k_major = knobs.at("k_major");
  s.vec_a = knobs.at("vec_a");
  s.vec_b = knobs.at("vec_b");
  s.pad = knobs.at("pad");
  s.min_blocks = knobs.at("min_blocks");
  s.frag_buffers = knobs.at("frag_buffers");
  s.unroll = knobs.at("unroll");
  s.raster = knobs.at("raster");
  s.staged = knobs.at("staged");
  return s;
}

SplitK gemm_simt_split_k(const cpu::Problem& p, const GemmSimtSchedule& s) {
  return {s.split_k, ceil_div(p.k, s.bk)};
}

std::int64_t gemm_simt_tiles(const cpu::Problem& p, const GemmSimtSchedule& s) {
  return ceil_div(p.m, s.bm) * ceil_div(p.n, s.bn) * p.batch;
}

GemmSimtCopy gemm_simt_copy_a(const cpu::Problem& p, const GemmSimtSchedule& s) {
  return copy_of(a_along_k(p), p.m, s.bm, s.vec_a, p, s);
}
GemmSimtCopy gemm_simt_copy_b(const cpu::Problem& p, const GemmSimtSchedule& s) {
  return copy_of(b_along_k(p), p.n, s.bn, s.vec_b, p, s);
}

std::int64_t gemm_simt_registers(const cpu::Problem& p, const GemmSimtSchedule& s) {
  const GemmSimtCopy a = gemm_simt_copy_a(p, s);
  const GemmSimtCopy b = gemm_simt_copy_b(p, s);
  const std::int64_t accumulators = s.tm * s.tn;
  const std::int64_t held = s.tm * (a.kept ? kQuad : 1) + s.tn * (b.kept ? kQuad : 1);
  const std::int64_t fragments = held * (s.frag_buffers + 1) / 2;
  const std::int64_t loads = a.loads() + b.loads();
  const std::int64_t in_flight = s.async == 1 ? 0 : a.loads() * a.vec + b.loads() * b.vec;
  const bool guarded = p.m % s.bm != 0 || p.n % s.bn != 0 || p.k % s.bk != 0;
  const std::int64_t per_load = s.async == 1 ? (loads <= 8 ? 2 : 3) : guarded ? 2 : 1;  // address, predicate
  const std::int64_t epilogue = (s.staged == 1 || s.split_k > 1 ? kEpilogueRegisters : 0) +
                                (s.split_k > 1 && guarded ? kGuardedSumRegisters : 0);
  return accumulators + fragments + in_flight + per_load * loads + epilogue + kOtherRegisters;
}

std::int64_t gemm_simt_shared_bytes(const cpu::Problem& p, const GemmSimtSchedule& s) {
  const auto bytes = [&](const GemmSimtCopy& copy) {
    return round_up(s.stages * copy.elements() * 4, kSharedAlignment);
  };
  const std::int64_t staging = s.staged == 1 ? s.threads() * s.tn * 4 : 0;
  return bytes(gemm_simt_copy_a(p, s)) + bytes(gemm_simt_copy_b(p, s)) + round_up(staging, kSharedAlignment) +
         (s.split_k > 1 ? kSplitKSharedBytes : 0);
}

FamilySpace gemm_simt_space(const Workload& workload, const Limits& limits) {
  return gemm_simt_space_of({.problem = cpu::problem_of(workload)}, limits);
}

FamilySpace gemm_simt_space_of(const GemmSimtForm& form, const Limits& limits) {
  const cpu::Problem p = form.problem;
  FamilySpace space(form.family);
  // A thread's four pixels side by side leave a warp too small a tile of fewer.
  const std::int64_t least = form.pools ? kLeastPooled : 1;
  const std::vector<std::int64_t> rows = tile_extents(form.gathers_a ? std::max(p.m, least) : p.m);
  const std::vector<std::int64_t> columns = tile_extents(form.gathers_a ? p.n : std::max(p.n, least));
  const KnobId bm = space.add("bm", "rows of C per block", rows);
  const KnobId bn = space.add("bn", "columns of C per block", columns);
  const KnobId tm = space.add_dependent("tm", "rows of C per thread", all_thread_extents(rows),
                                        [=](const Point& x) { return thread_extents(x[bm]); });
  const KnobId tn = space.add_dependent("tn", "columns of C per thread", all_thread_extents(columns),
                                        [=](const Point& x) { return thread_extents(x[bn]); });
  std::vector<std::int64_t> warp_rows;
  for (const std::int64_t lanes : powers_of_two(1, 32)) {
    const bool fits = lanes <= rows.back() && 32 / lanes <= columns.back();
    const bool square = rows.front() >= 32 && columns.front() >= 32;
    if (fits && (!square || (lanes >= 2 && lanes <= 16))) warp_rows.push_back(lanes);
  }
  const KnobId lanes_m = space.add("lanes_m", "rows of threads in a warp", warp_rows);
  const KnobId bk = space.add("bk", "k per tile", at_most(2 * p.k - 1, {8, 16, 32}));
  const KnobId split_k =
      space.add("split_k", "blocks that share a tile of C, each with its part of k", split_k_values(p.k));
  const KnobId async = space.add("async", "tiles come by 0: registers, 1: cp.async", {0, 1});
  const std::int64_t most_stages = std::max<std::int64_t>(2, ceil_div(p.k, 8));
  const KnobId stages = space.add_dependent(
      "stages", "tiles in shared memory", at_most(most_stages, {1, 2, 3, 4, 5}), [=](const Point& x) {
        return x[async] == 0 ? std::vector<std::int64_t>{1, 2} : at_most(most_stages, {2, 3, 4, 5});
      });
  const bool any_along_k = a_along_k(p) || b_along_k(p);
  const KnobId k_major =
      space.add("k_major", "tiles of operands contiguous along k: 0: transposed, 1: kept, read 4 k at a time",
                any_along_k ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0});
  // cp.async writes what it reads: a row of k cannot be scattered by it but element by element.
  const auto widths = [=](bool along_k, const std::vector<std::int64_t>& all) {
    return [=](const Point& x) {
      const bool scattered = along_k && x[k_major] == 0;
      return scattered && x[async] == 1 ? std::vector<std::int64_t>{1} : all;
    };
  };
  const std::vector<std::int64_t> widths_a = vector_widths(a_along_k(p) ? p.k : p.m, form.vector_a);
  const std::vector<std::int64_t> widths_b = vector_widths(b_along_k(p) ? p.k : p.n, form.vector_b);
  const KnobId vec_a =
      space.add_dependent("vec_a", "elements per load of A", widths_a, widths(a_along_k(p), widths_a));
  const KnobId vec_b =
      space.add_dependent("vec_b", "elements per load of B", widths_b, widths(b_along_k(p), widths_b));
  // Rows of 8, 16 or 32 elements of k that are 4 apart put the reads of 8 rows into distinct banks.
  const KnobId pad = space.add_dependent(
      "pad", "elements behind a row of a tile whose operand is contiguous along k",
      any_along_k ? std::vector<std::int64_t>{0, 4} : std::vector<std::int64_t>{0}, [=](const Point& x) {
        if (!any_along_k) return std::vector<std::int64_t>{0};
        return x[k_major] == 1 ? std::vector<std::int64_t>{4} : std::vector<std::int64_t>{0, 4};
      });
  const KnobId min_blocks = space.add("min_blocks", "blocks that a multiprocessor must hold", {1, 2, 3});
  const KnobId frag_buffers = space.add_dependent(
      "frag_buffers", "fragments in registers: this k's, or the next k's too", {1, 2}, [=](const Point& x) {
        return x[k_major] == 1 ? std::vector<std::int64_t>{1} : std::vector<std::int64_t>{1, 2};
      });
  const KnobId unroll =
      space.add_dependent("unroll", "k steps unrolled", powers_of_two(1, 32), [=](const Point& x) {
        // Two buffers take turns, so the step is even; a kept tile is read four k at a time.
        return powers_of_two(x[k_major] == 1 ? kQuad : x[frag_buffers], x[bk]);
      });
  const KnobId raster = space.add("raster", "rows of block tiles walked together, for the L2",
                                  at_most(ceil_div(p.m, rows.front()), {1, 2, 4, 8}));
  const KnobId staged = space.add("staged", "C goes out 0: from registers, 1: through shared memory", {0, 1});

  space.require("a warp does not fit the block tile", {bm, bn, tm, tn, lanes_m}, [=](const Point& x) {
    return x[bm] % (x[lanes_m] * x[tm]) == 0 && x[bn] % (32 / x[lanes_m] * x[tn]) == 0;
  });
  const auto threads = [=](const Point& x) { return x[bm] / x[tm] * (x[bn] / x[tn]); };
  space.require("too many threads", {bm, bn, tm, tn},
                [=](const Point& x) { return threads(x) <= limits.max_threads_per_block; });
  space.require("too many accumulators", {tm, tn}, [=](const Point& x) { return x[tm] * x[tn] <= 128; });
  space.require("a warp is a single row or column of a square tile", {bm, bn, lanes_m}, [=](const Point& x) {
    return x[bm] < 32 || x[bn] < 32 || (x[lanes_m] >= 2 && x[lanes_m] <= 16);
  });
  space.require("a vector is longer than the tile", {bm, bn, bk, vec_a, vec_b}, [=](const Point& x) {
    return x[vec_a] <= (a_along_k(p) ? x[bk] : x[bm]) && x[vec_b] <= (b_along_k(p) ? x[bk] : x[bn]);
  });
  space.require("more stages than tiles of k", {bk, split_k, stages}, [=](const Point& x) {
    return x[stages] <= std::max<std::int64_t>(2, SplitK{x[split_k], ceil_div(p.k, x[bk])}.most());
  });
  space.require("k is too short to be split, or the grid is large without that", {bm, bn, bk, split_k},
                [=](const Point& x) {
                  GemmSimtSchedule s;
                  s.bm = x[bm], s.bn = x[bn], s.bk = x[bk], s.split_k = x[split_k];
                  const std::int64_t tiles = gemm_simt_tiles(p, s);
                  return may_split_k(gemm_simt_split_k(p, s), p.k, tiles, tiles * s.bm * s.bn * 4,
                                     limits.cores);
                });
  // The first tile of k is the partial one, and only one part of k begins with that.
  space.require("blocks that split k take whole tiles of it", {bk, split_k},
                [=](const Point& x) { return x[split_k] == 1 || p.k % x[bk] == 0; });
  space.require("blocks that split k write C from registers", {split_k, staged},
                [=](const Point& x) { return x[split_k] == 1 || x[staged] == 0; });
  if (p.gated)
    space.require("a thread does not store columns in pairs", {tn, k_major, staged}, [=](const Point& x) {
      const bool side_by_side = x[staged] == 1 || x[k_major] == 0 || !b_along_k(p);
      return x[tn] >= 2 && side_by_side;
    });
  if (form.pools)
    space.require("a thread does not store whole windows from registers", {tm, tn, k_major, staged},
                  [=](const Point& x) {
                    const std::int64_t side = form.gathers_a ? x[tm] : x[tn];
                    return x[staged] == 0 && side >= 4 && (!form.gathers_a || x[k_major] == 0);
                  });
  space.require("too much code", {tm, tn, unroll},
                [=](const Point& x) { return x[tm] * x[tn] * x[unroll] <= 1024; });
  space.require("more rows of block tiles walked together than there are", {bm, raster},
                [=](const Point& x) { return x[raster] == 1 || x[raster] <= ceil_div(p.m, x[bm]); });
  space.require("the order of one column of block tiles has no meaning", {bn, raster},
                [=](const Point& x) { return x[raster] == 1 || p.n > x[bn]; });

  const auto schedule = [=](const Point& x) {  // without raster, unroll and those that come later
    GemmSimtSchedule s;
    s.bm = x[bm], s.bn = x[bn], s.bk = x[bk], s.tm = x[tm], s.tn = x[tn], s.lanes_m = x[lanes_m];
    s.async = x[async], s.stages = x[stages], s.vec_a = x[vec_a], s.vec_b = x[vec_b], s.pad = x[pad];
    s.k_major = x[k_major], s.split_k = x[split_k];
    return s;
  };
  const std::vector<KnobId> tile_knobs = {bm,    bn,     tm,      tn,    lanes_m, bk, split_k,
                                          async, stages, k_major, vec_a, vec_b,   pad};
  const auto and_also = [&](std::initializer_list<KnobId> more) {
    std::vector<KnobId> all = tile_knobs;
    all.insert(all.end(), more);
    return all;
  };
  space.require("too many loads per thread", tile_knobs, [=](const Point& x) {
    const GemmSimtSchedule s = schedule(x);
    return gemm_simt_copy_a(p, s).loads() <= kMaxLoads && gemm_simt_copy_b(p, s).loads() <= kMaxLoads;
  });
  space.require("needs more shared memory than a block may have", tile_knobs, [=](const Point& x) {
    return gemm_simt_shared_bytes(p, schedule(x)) <= limits.shared_bytes_per_block;
  });
  const auto blocks_fit = [=](const GemmSimtSchedule& s, std::int64_t blocks) {
    const std::int64_t bytes = gemm_simt_shared_bytes(p, s);
    return bytes <= limits.shared_bytes_per_block && cuda::shared_memory_holds(limits, blocks, bytes);
  };
  const char* const too_little_shared =
      "needs more shared memory than the multiprocessor has for that many blocks";
  space.require(too_little_shared, and_also({min_blocks}),
                [=](const Point& x) { return blocks_fit(schedule(x), x[min_blocks]); });
  space.require(too_little_shared, and_also({min_blocks, staged}), [=](const Point& x) {
    GemmSimtSchedule s = schedule(x);
    s.staged = x[staged];
    return blocks_fit(s, x[min_blocks]);
  });
  space.require("needs more threads than the multiprocessor has for that many blocks",
                {bm, bn, tm, tn, min_blocks},
                [=](const Point& x) { return x[min_blocks] * threads(x) <= limits.max_threads_per_core; });
  const char* const too_few_registers = "needs more registers than a thread can have";
  const auto registers_fit = [=](const GemmSimtSchedule& s, std::int64_t blocks) {
    const GemmSimtCopy gathered = form.gathers_a ? gemm_simt_copy_a(p, s) : gemm_simt_copy_b(p, s);
    const std::int64_t gather = form.registers_per_gather * gathered.loads();
    return gemm_simt_registers(p, s) + form.more_registers + gather <=
           cuda::registers_granted(limits, blocks, s.threads());
  };
  space.require(too_few_registers, and_also({min_blocks, frag_buffers}), [=](const Point& x) {
    GemmSimtSchedule s = schedule(x);
    s.frag_buffers = x[frag_buffers];
    return registers_fit(s, x[min_blocks]);
  });
  space.require(too_few_registers, and_also({min_blocks, frag_buffers, staged}), [=](const Point& x) {
    GemmSimtSchedule s = schedule(x);
    s.frag_buffers = x[frag_buffers], s.staged = x[staged];
    return registers_fit(s, x[min_blocks]);
  });
  return space;
}

// 128 x 128 with 8 x 8 per thread is what every public SGEMM ends at (kernels.md section 1.1); smaller tiles
// where that would leave multiprocessors without a block.
Config gemm_simt_default(const Workload& workload, const Limits& limits) {
  return gemm_simt_default_of({.problem = cpu::problem_of(workload)}, limits);
}

Config gemm_simt_default_of(const GemmSimtForm& form, const Limits& limits) {
  const cpu::Problem& p = form.problem;
  const FamilySpace space = gemm_simt_space_of(form, limits);
  const auto blocks = [&](std::int64_t bm, std::int64_t bn) {
    return ceil_div(p.m, bm) * ceil_div(p.n, bn) * p.batch;
  };
  const bool large = blocks(128, 128) >= limits.cores;
  const bool medium = blocks(64, 64) >= limits.cores;
  const std::int64_t tile = large ? 128 : medium ? 64 : 32;
  const std::int64_t per_thread = large ? 8 : 4;
  const std::int64_t split = default_split_k(p.k, blocks(tile, tile), limits.cores);
  const std::int64_t unaligned = p.n % 4 == 0 ? 0 : 1;  // rows of C that 128-bit stores cannot write
  const std::vector<std::int64_t> wanted = {
      // bm, bn, tm, tn, lanes_m, bk, split_k, async, stages
      tile, tile, per_thread, per_thread, 4, large ? 8 : 16, split, 0, 2,
      // k_major, vec_a, vec_b, pad, min_blocks, frag_buffers, unroll, raster, staged
      0, 4, 4, 4, large ? 2 : 1, 2, 8, 4, unaligned};
  return cpu::nearest_config(space, wanted);
}

}  // namespace lehr
