#include "templates/gemm/cuda/gemm_wgmma_space.h"

#include <algorithm>
#include <array>
#include <vector>

#include "base/ceil_div.h"

namespace lehr {
namespace {

/// Tile sizes of the hand-written and library kernels (CUTLASS's sm90_shapes.py, DeepGEMM's
/// heuristics/sm90.hpp, quack). The columns also include the multiples of 16 in between.
constexpr std::array<std::int64_t, 4> kRows = {64, 128, 192, 256};
constexpr std::array<std::int64_t, 20> kColumns = {8,   16,  24,  32,  48,  64,  80,  96,  112, 128,
                                                   144, 160, 176, 192, 208, 224, 240, 256, 320, 384};
/// Minimum number of accumulators per thread for overlapping iterations. With fewer, ptxas (13.0) may copy
/// them between iterations and give up the overlap: its advisory C7514 was seen with up to 64 accumulators,
/// never with more (300 sampled schedules).
constexpr std::int64_t kLeastInFlight = 72;
/// Maximum number of rows of C with which operands may be swapped. With more rows, writing the sums in short
/// pieces would cost time and gain nothing.
constexpr std::int64_t kMaxRowsSwapped = 256;
/// Maximum number of rows of C with which operands must be swapped: otherwise at least half of the
/// instruction's 64 rows would be padding, and boxes that lie mostly outside of the matrix are slower than
/// small boxes (DeepGEMM's issue 60).
constexpr std::int64_t kFewRows = 32;
/// Returns the maximum number of accumulators per thread that ptxas (13.0) can allocate without a spill or an
/// advisory. Found by compiling; the NVRTC test of the family checks it. An epilogue's operands and functions
/// need additional registers: 128 sums with two consumers spilled.
std::int64_t most_accumulators(std::int64_t consumers, bool fused) {
  if (fused) return consumers == 3 ? 64 : 112;
  return consumers == 1 ? 192 : consumers == 2 ? 208 : 96;
}

/// Returns whether `value` is below `extent`, or is the first value of `all` (ascending) that covers
/// `extent`.
template <typename Values>
bool is_covering(const Values& all, std::int64_t value, std::int64_t extent) {
  const auto last = std::ranges::lower_bound(all, extent);
  return last == all.end() || value <= *last;
}
/// Returns the values of `all` for which the function above returns true.
template <typename Values>
std::vector<std::int64_t> covering(const Values& all, std::int64_t extent) {
  const auto last = std::ranges::lower_bound(all, extent);
  return {all.begin(), last == all.end() ? last : last + 1};
}

/// Maximum number of sums per thread that leaves registers for the position in a cluster: with 208, a fifth
/// of the schedules spilled.
constexpr std::int64_t kMostInClusters = 192;
/// Returns the maximum number of sums per thread that leaves registers for storing C through shared memory.
/// With more, schedules spilled. With stmatrix and two consumers, a third of the schedules with 192 and with
/// 208 sums spilled.
std::int64_t most_staged(std::int64_t consumers, bool stmatrix) {
  return consumers == 1 ? 152 : stmatrix ? 176 : 208;
}

using S = GemmWgmmaSchedule;
using Problem = GemmWgmmaProblem;
using Values = std::vector<std::int64_t>;

Values flags(bool both) {
  return both ? Values{0, 1} : Values{0};
}

// Returns whether operands must be swapped. Lists of values are as narrow as the sizes allow, because
// sampling draws from them.
bool must_swap(const Problem& p) {
  // The instruction takes only the operand of its 64 rows from registers.
  return p.rows_from_registers() ? p.a_along_k() : p.size.m <= kFewRows;
}
bool may_swap(const Problem& p) {
  return p.rows_from_registers() ? p.a_along_k() : p.size.m <= kMaxRowsSwapped;
}
/// Return the extent of C along the instruction's rows (rows_of), and along its columns.
std::int64_t rows_of(const Problem& p, const S& s) {
  return s.swap_ab == 1 ? p.size.n : p.size.m;
}
std::int64_t columns_of(const Problem& p, const S& s) {
  return s.swap_ab == 1 ? p.size.m : p.size.n;
}
/// Return the possible extents. The columns are first those without the swap, then those with it.
Values possible_rows(const Problem& p) {
  if (must_swap(p)) return {p.size.n};
  return may_swap(p) ? Values{p.size.m, p.size.n} : Values{p.size.m};
}
Values possible_columns(const Problem& p) {
  if (must_swap(p)) return {p.size.m};
  return may_swap(p) ? Values{p.size.n, p.size.m} : Values{p.size.n};
}
/// Returns `extent`, but at least 16: every type and layout supports a tile with 16 columns.
std::int64_t least_columns(std::int64_t extent) {
  return std::max<std::int64_t>(extent, 16);
}
std::int64_t rows_of_k(const Problem& p) {
  return ceil_div(p.size.k, p.row());
}
bool may_persist(const Problem& p, const Limits& limits) {
  const auto [less, more] = std::minmax(p.size.m, p.size.n);
  return ceil_div(more, 64) * ceil_div(less, 8) * p.size.batch > limits.cores;
}

/// Returns the possible numbers of parts of k, for the largest tiles.
Values split_values(const Problem& p, const Limits& limits) {
  const auto least_tiles = [&](std::int64_t rows, std::int64_t columns) {
    return ceil_div(rows, kRows.back()) * ceil_div(columns, kColumns.back()) * p.size.batch;
  };
  const std::int64_t m = p.size.m, n = p.size.n, tiles = std::min(least_tiles(m, n), least_tiles(n, m));
  Values splits = split_k_values(p.size.k);
  while (splits.size() > 1 && !may_split_k({splits.back(), splits.back()}, p.size.k, tiles,
                                           m * n * p.size.batch * 4, limits.cores))
    splits.pop_back();
  return splits;
}

/// Returns whether wgmma can compute the tile's columns in one or two instructions.
bool takes_columns(const Problem& p, const S& s) {
  const bool along_k = s.swap_ab == 1 ? p.a_along_k() : p.b_along_k();
  if (!along_k && gemm_wgmma_span(s.columns(), p.bytes()) == 0) return false;
  // The 128 threads must get equal shares of the columns.
  if (p.operand == DType::kF32) return s.columns() % 16 == 0;
  return p.operand != DType::kS8 || s.columns() <= 24 || s.columns() % 16 == 0;
}

void tile_knobs(Knobs<S>& k, const Problem& p) {
  k.knob(&S::swap_ab, "swap_ab", "1: n is on the side of 64 rows, for few rows of C",
         must_swap(p) ? Values{1} : flags(may_swap(p)));
  k.knob(&S::bm, "bm", "tile of C on the side of 64 rows",
         covering(kRows, std::ranges::max(possible_rows(p))));
  k.only([=](const S& s) { return is_covering(kRows, s.bm, rows_of(p, s)); });
  k.knob(&S::bn, "bn", "tile of C on the other side",
         covering(kColumns, least_columns(std::ranges::max(possible_columns(p)))));
  k.only([=](const S& s) { return is_covering(kColumns, s.bn, least_columns(columns_of(p, s))); });
  k.forbid("the instruction does not take so many columns", [=](const S& s) { return !takes_columns(p, s); });
  Values atoms = {1};  // up to 256 bytes
  while (atoms.back() * p.span < 256 && atoms.back() < rows_of_k(p)) atoms.push_back(2 * atoms.back());
  k.knob(&S::k_atoms, "k_atoms", "k of a stage, in rows of 128 bytes (of a swizzle for fewer channels)",
         atoms);
}

void block_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  k.knob(&S::consumers, "consumers", "warpgroups that multiply", {1, 2, 3});
  k.forbid("three consumers have registers for 192 columns only",
           [](const S& s) { return s.consumers == 3 && s.bn > 192; });
  k.knob(&S::ping_pong, "ping_pong", "consumers 0: share each tile, 1: take tiles in turn",
         flags(may_persist(p, limits)));
  k.forbid("consumers that take tiles in turn are two",
           [](const S& s) { return s.ping_pong == 1 && s.consumers != 2; });
  k.forbid("the consumers' shares of a tile are not multiples of 64 rows",
           [](const S& s) { return s.ping_pong == 0 && s.bm % (64 * s.consumers) != 0; });
  k.forbid("more accumulators than a thread can hold",
           [=](const S& s) { return gemm_wgmma_sums(p, s) > most_accumulators(s.consumers, p.fused); });
  k.knob(&S::persistent, "persistent", "1: one block per multiprocessor takes several tiles",
         flags(may_persist(p, limits)));
  k.forbid("there is no second tile for a block", [=](const S& s) {
    return s.persistent == 1 && gemm_wgmma_grid(p, s, limits).tiles <= limits.cores;
  });
  k.forbid("only persistent blocks have tiles to take in turn",
           [](const S& s) { return s.ping_pong == 1 && s.persistent == 0; });
}

/// Returns the numbers among 1, 2 and 4 that divide the number of tiles along one of `sides`, for one of the
/// tile extents `tiles`.
template <typename Tiles>
Values cluster_values(const Values& sides, const Tiles& tiles) {
  Values values;
  for (const std::int64_t each : {1, 2, 4})
    if (std::ranges::any_of(sides, [&](std::int64_t side) {
          return std::ranges::any_of(tiles,
                                     [&](std::int64_t tile) { return ceil_div(side, tile) % each == 0; });
        }))
      values.push_back(each);
  return values;
}

/// Adds the knobs of clusters. A cluster has at most eight blocks (CUDA C++ Programming Guide 13.0, "Thread
/// Block Clusters"), and the tiles must divide evenly among clusters.
void cluster_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  k.knob(&S::cluster_bm, "cluster_bm",
         "tiles along bm whose blocks bring each other the other side's operand",
         cluster_values(possible_rows(p), kRows));
  k.only([=](const S& s) { return ceil_div(rows_of(p, s), s.bm) % s.cluster_bm == 0; });
  // Eight lines are one pattern of the swizzle.
  k.forbid("a block's slice of the other side's tile is not of eight lines", [=](const S& s) {
    const GemmWgmmaTile tile = gemm_wgmma_tile(p, s, false);
    return tile.box_outer % (8 * tile.slices) != 0;
  });
  k.knob(&S::cluster_bn, "cluster_bn", "the same along bn", cluster_values(possible_columns(p), kColumns));
  k.only(
      [=](const S& s) { return ceil_div(columns_of(p, s), s.bn) % s.cluster_bn == 0 && s.cluster() <= 8; });
  k.forbid("a cluster takes registers that the sums need",
           [=](const S& s) { return s.cluster() > 1 && gemm_wgmma_sums(p, s) > kMostInClusters; });
  k.forbid("there are not as many multiprocessors as a cluster needs",
           [=](const S& s) { return s.persistent == 1 && s.cluster() > limits.cores; });
}

/// Returns the maximum number of sums per thread in blocks that split k, where all threads have the same
/// number of registers.
std::int64_t most_of_parts(const Problem& p, std::int64_t consumers) {
  // A second level of sums, or an epilogue's functions, need some of the registers. Integers spilled with 80
  // sums and two consumers, and with 128 sums and one consumer.
  const std::int64_t others = p.accum == DType::kS32 ? 40 : p.two_level || p.fused ? 32 : 16;
  return 320 / (1 + consumers) - others;
}

void split_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  const Values splits = split_values(p, limits);
  k.knob(&S::split_k, "split_k", "blocks that share a tile of C, each with its part of k", splits);
  k.forbid("blocks that split k take one tile each",
           [](const S& s) { return s.split_k > 1 && s.persistent == 1; });
  k.forbid("k is too short to be split, or the grid is large without that", [=](const S& s) {
    const std::int64_t tiles = gemm_wgmma_grid(p, s, limits).tiles;
    return !may_split_k(gemm_wgmma_split_k(p, s), p.size.k, tiles, tiles * s.bm * s.bn * 4, limits.cores);
  });
  k.forbid("blocks that split k have no more registers than are dealt out evenly", [=](const S& s) {
    return s.split_k > 1 && gemm_wgmma_sums(p, s) > most_of_parts(p, s.consumers);
  });
  k.knob(&S::reduce, "reduce",
         "their sums meet 0: in a workspace, 1: in a cluster's shared memory, 2: by adding to a workspace",
         splits.size() > 1 ? Values{0, 1, 2} : Values{0});
  k.forbid("a cluster whose blocks split k has one tile and two, four or eight blocks", [](const S& s) {
    const bool fits = s.split_k == 2 || s.split_k == 4 || s.split_k == 8;
    return s.reduce == 1 && (!fits || s.cluster() > 1);
  });
  k.forbid("one part of k is added to nothing", [](const S& s) { return s.reduce == 2 && s.split_k == 1; });
}

/// Returns whether C may be stored as the schedule's `store` says. Blocks that split k must write from
/// registers, and only a C whose rows are not swapped can go through shared memory.
bool may_store(const Problem& p, const S& s) {
  const GemmWgmmaStage stage = gemm_wgmma_stage(p, s);
  if (s.store == 0) return true;
  if (s.swap_ab == 1 || s.split_k > 1 || stage.span == 0) return false;
  if (s.store == 3) return s.persistent == 0;  // otherwise the stages of the next tile are in flight
  return s.store == 1 || stage.boxes > 2;
}

/// Returns whether the tensor memory accelerator can store rows of C.
bool has_whole_lines(const Problem& p) {
  return !must_swap(p) && p.size.output_columns() * size_of(p.output) % 16 == 0;
}
/// Returns whether stmatrix can write C. It needs neighbouring elements from a thread, but behind a gate a
/// thread has only one of four columns.
bool may_stmatrix(const Problem& p) {
  return has_whole_lines(p) && !p.size.gated && size_of(p.output) == 2;
}
/// Returns whether storing C through shared memory leaves enough registers for the sums.
bool leaves_registers(const Problem& p, const S& s) {
  return s.store == 0 || gemm_wgmma_sums(p, s) <= most_staged(s.consumers, s.stmatrix == 1);
}

void store_knobs(Knobs<S>& k, const Problem& p) {
  k.knob(&S::keep, "keep", "what the L2 is told 0: nothing, to keep 1: the tiles of bm, 2: those of bn",
         {0, 1, 2});
  k.knob(&S::store, "store",
         "C 0: from registers, else by TMA through 1: a tile, 2: two boxes in turn, 3: the stages' place",
         has_whole_lines(p) ? Values{0, 1, 2, 3} : Values{0});
  k.only([=](const S& s) { return may_store(p, s); });
  k.knob(&S::stmatrix, "stmatrix", "1: C goes into shared memory by stmatrix", flags(may_stmatrix(p)));
  k.only([](const S& s) { return s.stmatrix == 0 || s.store > 0; });
  k.forbid("C's way through shared memory takes registers that the sums need",
           [=](const S& s) { return !leaves_registers(p, s); });
}

void stage_knobs(Knobs<S>& k, const Problem& p, const Limits& limits) {
  Values counts = {2, 3, 4, 5, 6, 7, 8, 10, 12, 16};
  const std::int64_t most = std::max<std::int64_t>(2, rows_of_k(p) * (may_persist(p, limits) ? 4 : 1));
  std::erase_if(counts, [=](std::int64_t count) { return count > most; });
  k.knob(&S::stages, "stages", "tiles of A and B in shared memory", counts);
  k.forbid("C does not fit into the place of the stages", [=](const S& s) {
    const GemmWgmmaTile below = gemm_wgmma_tile(p, s, gemm_wgmma_c_takes_rows(s));
    return s.store == 3 && gemm_wgmma_stage(p, s).elements() * size_of(p.output) >
                               s.stages * below.stage_elements() * p.bytes();
  });
  k.forbid("needs more shared memory than a block may have",
           [=](const S& s) { return gemm_wgmma_shared_bytes(p, s) > limits.shared_bytes_per_block; });
  k.forbid("more stages than steps along k", [=](const S& s) {
    const std::int64_t steps = gemm_wgmma_split_k(p, s).most() * (1 + 3 * s.persistent);
    return s.stages > std::max<std::int64_t>(2, steps);
  });
  // With two levels, sums are added after each group of instructions; with rows in registers, the registers
  // that a group reads are reloaded. Neither allows groups in flight.
  k.knob(&S::in_flight, "in_flight", "groups of wgmma left running when the next stage is taken up",
         flags(!p.two_level && !p.rows_from_registers()));
  k.forbid("ptxas serialises instructions in flight for so few accumulators",
           [](const S& s) { return s.in_flight == 1 && s.accumulators() < kLeastInFlight; });
}

void order_knobs(Knobs<S>& k, const Problem& p) {
  k.knob(&S::raster, "raster", "tiles along bm walked together, for the L2",
         covering(Values{1, 2, 4, 8, 16}, ceil_div(std::ranges::max(possible_rows(p)), 64)));
  k.forbid("more tiles walked together than there are", [=](const S& s) {
    return s.raster > 1 && s.raster > ceil_div(rows_of(p, s), s.bm * s.cluster_bm);
  });
  k.forbid("the order of one column of tiles has no meaning",
           [=](const S& s) { return s.raster > 1 && columns_of(p, s) <= s.bn * s.cluster_bn; });
}

}  // namespace

void gemm_wgmma_knobs(Knobs<S>& k, const Workload& workload, const Limits& limits) {
  const GemmWgmmaProblem p = gemm_wgmma_problem(workload);
  tile_knobs(k, p);
  block_knobs(k, p, limits);
  cluster_knobs(k, p, limits);
  split_knobs(k, p, limits);
  store_knobs(k, p);
  stage_knobs(k, p, limits);
  order_knobs(k, p);
  k.knob(&S::pdl, "pdl", "1: a launch begins while the one before it ends (programmatic dependent launch)",
         {0, 1});
}

/// Stores C by whole lines if possible. From registers, C is written in pieces of two columns (behind a gate,
/// of one column), and pieces of less than eight bytes do not fill a sector of memory. `store` = 2 (two boxes
/// in turn) leaves the most shared memory to the stages.
void write_whole_lines(const Problem& p, S& s) {
  const std::int64_t piece = size_of(p.output) * (p.size.gated ? 1 : 2);
  if (piece >= 8 || !has_whole_lines(p)) return;
  for (const std::int64_t store : {2, 1}) {
    s.store = store;
    s.stmatrix = may_stmatrix(p) ? 1 : 0;
    if (may_store(p, s) && leaves_registers(p, s)) return;
  }
  s.store = s.stmatrix = 0;
}

/// Splits k if the grid is small and k is long. The parts then fill the multiprocessors with larger tiles,
/// which read the operands less often: 128 x 128, as in CUTLASS's split-K kernels.
void prefer_parts_of_k(const Problem& p, const Limits& limits, S& s) {
  S large = s;
  large.bm = large.bn = 128;
  large.consumers = 1;
  const std::int64_t tiles = gemm_wgmma_grid(p, large, limits).tiles;
  large.split_k = default_split_k(p.size.k, tiles, limits.cores);
  const bool fills = 2 * tiles * large.split_k > limits.cores;
  if (large.split_k > 1 && fills && gemm_wgmma_sums(p, large) <= most_of_parts(p, 1)) s = large;
}

/// Sets the knobs that concern several blocks. Blocks of a large product walk many tiles along bm together:
/// the L2 keeps these tiles, which are read again for each column of tiles (bench/results/gpu/README.md: the
/// winners of an H200, which have no clusters). A few parts of k are added up in a cluster's shared memory
/// (sglang's PR 33222: 1.27 times a library's speed at n = 1536).
void share(const Problem& p, S& s) {
  s.raster = s.persistent == 1 ? 16 : 8;
  s.keep = s.persistent == 1 && !p.image ? 1 : 0;
  if (s.split_k > 1) s.reduce = s.split_k <= 8 && (s.split_k & (s.split_k - 1)) == 0 ? 1 : 0;
}

// Chooses the tile of the public kernels (128 x 256: fast.cu, ThunderKittens) if such tiles fill the
// multiprocessors, otherwise smaller tiles. If C has few rows, swaps the operands.
GemmWgmmaSchedule gemm_wgmma_wanted(const Workload& workload, const Limits& limits) {
  const GemmWgmmaProblem p = gemm_wgmma_problem(workload);
  S s;
  s.k_atoms = 128 / p.span;
  if (p.rows_from_registers()) s.swap_ab = must_swap(p) ? 1 : 0;
  const auto fills = [&](std::int64_t bm, std::int64_t bn) {
    s.bm = bm;
    s.bn = bn;
    s.persistent = 0;
    return gemm_wgmma_grid(p, s, limits).tiles >= limits.cores;
  };
  const bool few = p.size.m <= 64 && (may_swap(p) || !p.rows_from_registers());
  // Without the swap, C is written by whole lines; with it, in short pieces.
  const bool few_by_rows = few && has_whole_lines(p) && size_of(p.output) < 4;
  if (few && !few_by_rows) {
    s.swap_ab = 1;
    s.bm = 64;
    s.consumers = 1;
    const std::int64_t step = p.size.m > 32 ? 16 : 8;
    s.bn = ceil_div(p.size.m, step) * step;
  } else if (few || !(fills(128, 256) || fills(128, 128) || fills(128, 64))) {
    s.bm = 64;
    s.bn = 64;
    s.consumers = 1;
    // Few rows take one tile anyway, which reads the operands once.
    if (!few) prefer_parts_of_k(p, limits, s);
  }
  s.bn = std::min(s.bn, covering(kColumns, columns_of(p, s)).back());
  const std::int64_t tiles = gemm_wgmma_grid(p, s, limits).tiles;
  s.persistent = tiles > limits.cores ? 1 : 0;
  s.split_k = default_split_k(p.size.k, tiles, limits.cores);
  share(p, s);
  write_whole_lines(p, s);
  s.stages = 2;
  for (S more = s; s.stages < 12; s.stages = more.stages) {
    ++more.stages;
    if (gemm_wgmma_shared_bytes(p, more) > limits.shared_bytes_per_block) break;
  }
  return s;
}

}  // namespace lehr
