#include "templates/gemm_wgmma_space.h"

#include <algorithm>
#include <array>
#include <string>
#include <vector>

namespace lehr {
namespace {

using cpu::ceil_div;

/// Of the hand-written and library kernels (kernels.md section 3.2), with the 16-step columns of wgmma
/// between.
constexpr std::array<std::int64_t, 4> kRows = {64, 128, 192, 256};
constexpr std::array<std::int64_t, 20> kColumns = {8,   16,  24,  32,  48,  64,  80,  96,  112, 128,
                                                   144, 160, 176, 192, 208, 224, 240, 256, 320, 384};
/// Accumulators of a thread below which ptxas (13.0) copies them between iterations and gives up the overlap:
/// C7514 was seen at up to 64 of them, never above (300 sampled schedules).
constexpr std::int64_t kLeastInFlight = 72;
/// Rows and columns of C from which on there is a square of tiles to walk along a Hilbert curve.
constexpr std::int64_t kLeastHilbert = 128;
/// Of C, up to which the sides may be swapped: beyond, the sums would be written in short pieces for nothing.
constexpr std::int64_t kMaxRowsSwapped = 256;
/// Up to which they must be: half and more of 64 rows would be padding, and boxes that lie outside of the
/// matrix for the most part are slower than small ones (kernels.md section 5, DeepGEMM's issue 60).
constexpr std::int64_t kFewRows = 32;
/// Accumulators of a thread that ptxas (13.0) places without a spill or an advisory: kernels.md section 3.8;
/// the NVRTC test of the family holds them.
/// An epilogue's operands and functions take registers beside them: 128 sums of two consumers spilled.
std::int64_t most_accumulators(std::int64_t consumers, bool fused) {
  if (fused) return consumers == 3 ? 64 : 112;
  return consumers == 1 ? 192 : consumers == 2 ? 208 : 96;
}

/// Tiles of a cluster along one side.
const std::vector<std::int64_t> kClusters = {1, 2, 4};
/// Those that divide `tiles` and are at most `most`.
std::vector<std::int64_t> dividing(std::int64_t tiles, std::int64_t most) {
  std::vector<std::int64_t> values;
  for (const std::int64_t each : kClusters)
    if (tiles % each == 0 && each <= most) values.push_back(each);
  return values;
}

/// Those that divide the tiles of one of `sides`, cut into one of `tiles`.
template <typename Tiles>
std::vector<std::int64_t> dividing_any(const std::vector<std::int64_t>& sides, const Tiles& tiles) {
  std::vector<std::int64_t> values;
  for (const std::int64_t each : kClusters)
    if (std::ranges::any_of(sides, [&](std::int64_t side) {
          return std::ranges::any_of(tiles,
                                     [&](std::int64_t tile) { return ceil_div(side, tile) % each == 0; });
        }))
      values.push_back(each);
  return values;
}

/// Of these, what leaves registers for the place in a cluster: 208 spilled in a fifth of the schedules.
constexpr std::int64_t kMostInClusters = 192;
/// Of these, what leaves registers for C's way through shared memory: more of them spilled, with stmatrix 192
/// and 208 sums of two consumers in a third of the schedules.
std::int64_t most_staged(std::int64_t consumers, bool stmatrix) {
  return consumers == 1 ? 152 : stmatrix ? 176 : 208;
}

/// Values of `all` that are below `extent`, and the first that covers it.
template <typename Values>
std::vector<std::int64_t> covering(const Values& all, std::int64_t extent) {
  const auto last = std::ranges::lower_bound(all, extent);
  return {all.begin(), last == all.end() ? last : last + 1};
}

}  // namespace

FamilySpace gemm_wgmma_space(const Workload& workload, const Limits& limits) {
  const GemmWgmmaProblem p = gemm_wgmma_problem(workload);
  const std::int64_t m = p.size.m, n = p.size.n;
  const bool fused = p.fused;
  const std::int64_t rows_of_k = ceil_div(p.size.k, p.row());
  // Supersets are as narrow as the sizes allow: sampling draws from them.
  const bool gated = p.size.gated;
  const bool may_swap = m <= kMaxRowsSwapped, must_swap = m <= kFewRows;
  const bool may_persist =
      ceil_div(std::max(m, n), 64) * ceil_div(std::min(m, n), 8) * p.size.batch > limits.cores;
  const auto least_tiles = [&](std::int64_t rows, std::int64_t columns) {
    return ceil_div(rows, kRows.back()) * ceil_div(columns, kColumns.back()) * p.size.batch;
  };
  std::vector<std::int64_t> splits = split_k_values(p.size.k);
  while (splits.size() > 1 &&
         !may_split_k({splits.back(), splits.back()}, p.size.k,
                      std::min(least_tiles(m, n), least_tiles(n, m)), m * n * p.size.batch * 4, limits.cores))
    splits.pop_back();
  const bool may_split = splits.size() > 1;
  const auto flags = [](bool both) {
    return both ? std::vector<std::int64_t>{0, 1} : std::vector<std::int64_t>{0};
  };
  // 16 is the least that every type and layout can do.
  const auto columns_for = [](std::int64_t extent) {
    return covering(kColumns, std::max<std::int64_t>(extent, 16));
  };
  const std::int64_t longer = must_swap ? n : may_swap ? std::max(m, n) : m;
  const std::int64_t most_stages = std::max<std::int64_t>(2, rows_of_k * (may_persist ? 4 : 1));
  std::vector<std::int64_t> atoms = {1};  // up to 256 bytes
  while (atoms.back() * p.span < 256 && atoms.back() < rows_of_k) atoms.push_back(2 * atoms.back());
  FamilySpace space{std::string(p.family())};
  const KnobId swap_ab = space.add("swap_ab", "1: n is on the side of 64 rows, for few rows of C",
                                   must_swap ? std::vector<std::int64_t>{1} : flags(may_swap));
  const KnobId bm =
      space.add_dependent("bm", "tile of C on the side of 64 rows", covering(kRows, longer),
                          [=](const Point& x) { return covering(kRows, x[swap_ab] == 1 ? n : m); });
  const KnobId bn = space.add_dependent("bn", "tile of C on the other side",
                                        columns_for(must_swap  ? m
                                                    : may_swap ? std::max(m, n)
                                                               : n),
                                        [=](const Point& x) { return columns_for(x[swap_ab] == 1 ? m : n); });
  const KnobId k_atoms =
      space.add("k_atoms", "k of a stage, in rows of 128 bytes (of a swizzle for fewer channels)", atoms);
  const KnobId consumers = space.add("consumers", "warpgroups that multiply", {1, 2, 3});
  const KnobId ping_pong =
      space.add("ping_pong", "consumers 0: share each tile, 1: take tiles in turn", flags(may_persist));
  const auto schedule = [=](const Point& x) {  // split_k and later: not read
    GemmWgmmaSchedule s;
    s.swap_ab = x[swap_ab], s.bm = x[bm], s.bn = x[bn], s.k_atoms = x[k_atoms], s.consumers = x[consumers];
    s.ping_pong = x[ping_pong];
    return s;
  };
  const KnobId persistent =
      space.add("persistent", "1: one block per multiprocessor takes several tiles", flags(may_persist));
  std::vector<std::int64_t> rows_of_tiles, columns_of_tiles;
  if (!must_swap) rows_of_tiles.push_back(m), columns_of_tiles.push_back(n);
  if (may_swap) rows_of_tiles.push_back(n), columns_of_tiles.push_back(m);
  // A cluster has at most eight blocks (ir/verify_declarations.cpp), and the tiles divide among clusters.
  const KnobId cluster_bm = space.add_dependent(
      "cluster_bm", "tiles along bm whose blocks bring each other the other side's operand",
      dividing_any(rows_of_tiles, kRows),
      [=](const Point& x) { return dividing(ceil_div(x[swap_ab] == 1 ? n : m, x[bm]), 8); });
  const KnobId cluster_bn = space.add_dependent(
      "cluster_bn", "the same along bn", dividing_any(columns_of_tiles, kColumns),
      [=](const Point& x) { return dividing(ceil_div(x[swap_ab] == 1 ? m : n, x[bn]), 8 / x[cluster_bm]); });
  const KnobId split_k =
      space.add("split_k", "blocks that share a tile of C, each with its part of k", splits);
  const KnobId reduce = space.add(
      "reduce",
      "their sums meet 0: in a workspace, 1: in a cluster's shared memory, 2: by adding to a workspace",
      may_split ? std::vector<std::int64_t>{0, 1, 2} : std::vector<std::int64_t>{0});
  space.require("a cluster whose blocks split k has one tile and two, four or eight blocks",
                {cluster_bm, cluster_bn, split_k, reduce}, [=](const Point& x) {
                  const bool fits = x[split_k] == 2 || x[split_k] == 4 || x[split_k] == 8;
                  return x[reduce] != 1 || (fits && x[cluster_bm] * x[cluster_bn] == 1);
                });
  space.require("one part of k is added to nothing", {split_k, reduce},
                [=](const Point& x) { return x[split_k] > 1 || x[reduce] != 2; });
  space.add("keep", "what the L2 is told 0: nothing, to keep 1: the tiles of bm, 2: those of bn", {0, 1, 2});
  const bool may_store = !must_swap && p.size.output_columns() * size_of(p.output) % 16 == 0;  // C's lines
  const KnobId store = space.add_dependent(
      "store",
      "C 0: from registers, else by TMA through 1: a tile, 2: two boxes in turn, 3: the stages' place",
      may_store ? std::vector<std::int64_t>{0, 1, 2, 3} : std::vector<std::int64_t>{0}, [=](const Point& x) {
        std::vector<std::int64_t> values = {0};
        GemmWgmmaSchedule s;
        s.bn = x[bn];
        const GemmWgmmaStage stage = gemm_wgmma_stage(p, s);
        // Blocks that split k write from registers, and only C by rows goes through shared memory.
        if (!may_store || x[swap_ab] == 1 || x[split_k] > 1 || stage.span == 0) return values;
        values.push_back(1);
        if (stage.boxes > 2) values.push_back(2);
        if (x[persistent] == 0) values.push_back(3);  // else the next tile's stages are on their way
        return values;
      });
  // What stmatrix takes from a thread are neighbours; of a gate's columns it has one in four.
  const bool may_stmatrix = may_store && !gated && size_of(p.output) == 2;
  const KnobId stmatrix =
      space.add_dependent("stmatrix", "1: C goes into shared memory by stmatrix", flags(may_stmatrix),
                          [=](const Point& x) { return flags(may_stmatrix && x[store] > 0); });
  std::vector<std::int64_t> stage_counts;
  for (const std::int64_t each : {2, 3, 4, 5, 6, 7, 8, 10, 12, 16})
    if (each <= most_stages) stage_counts.push_back(each);
  const KnobId stages = space.add("stages", "tiles of A and B in shared memory", stage_counts);
  // Sums of two levels are added up behind each group.
  const KnobId in_flight = space.add(
      "in_flight", "groups of wgmma left running when the next stage is taken up", flags(!p.two_level));
  const KnobId raster =
      space.add("raster", "tiles along bm walked together, for the L2",
                covering(std::array<std::int64_t, 5>{1, 2, 4, 8, 16}, ceil_div(longer, 64)));
  const KnobId hilbert =
      space.add("hilbert", "1: squares of raster x raster tiles are walked along a Hilbert curve",
                flags(std::min(m, n) >= kLeastHilbert));
  space.add("pdl", "1: a launch begins while the one before it ends (programmatic dependent launch)", {0, 1});
  space.add_dependent("registers",
                      "of threads that multiply 0: the public kernels' split, 1: 8 more or fewer",
                      flags(!must_swap), [=](const Point& x) {
                        GemmWgmmaSchedule s = schedule(x);
                        s.split_k = x[split_k];
                        s.cluster_bm = x[cluster_bm], s.cluster_bn = x[cluster_bn];
                        return flags(!must_swap && gemm_wgmma_splits_registers(p, s));
                      });

  space.require("the instruction does not take so many columns", {swap_ab, bn}, [=](const Point& x) {
    const std::int64_t columns = x[bn] > 256 ? x[bn] / 2 : x[bn];
    const bool along_k = x[swap_ab] == 1 ? p.a_along_k() : p.b_along_k();
    if (!along_k && gemm_wgmma_span(columns, p.bytes()) == 0) return false;
    if (p.operand == DType::kF32) return columns % 16 == 0;  // what 128 threads have equal shares of
    return p.operand != DType::kS8 || columns <= 24 || columns % 16 == 0;
  });
  space.require("consumers that take tiles in turn are two", {consumers, ping_pong},
                [=](const Point& x) { return x[ping_pong] == 0 || x[consumers] == 2; });
  space.require("the consumers' shares of a tile are not multiples of 64 rows", {bm, consumers, ping_pong},
                [=](const Point& x) { return x[ping_pong] == 1 || x[bm] % (64 * x[consumers]) == 0; });
  space.require("three consumers have registers for 192 columns only", {bn, consumers},
                [=](const Point& x) { return x[consumers] < 3 || x[bn] <= 192; });
  space.require("more accumulators than a thread can hold", {bm, bn, k_atoms, consumers, ping_pong},
                [=](const Point& x) {
                  return gemm_wgmma_sums(p, schedule(x)) <= most_accumulators(x[consumers], fused);
                });
  space.require("a cluster takes registers that the sums need",
                {bm, bn, k_atoms, consumers, ping_pong, cluster_bm, cluster_bn}, [=](const Point& x) {
                  return x[cluster_bm] * x[cluster_bn] == 1 ||
                         gemm_wgmma_sums(p, schedule(x)) <= kMostInClusters;
                });
  space.require("C's way through shared memory takes registers that the sums need",
                {bm, bn, k_atoms, consumers, ping_pong, store, stmatrix}, [=](const Point& x) {
                  return x[store] == 0 ||
                         gemm_wgmma_sums(p, schedule(x)) <= most_staged(x[consumers], x[stmatrix] == 1);
                });
  space.require("there is no second tile for a block", {swap_ab, bm, bn, persistent}, [=](const Point& x) {
    if (x[persistent] == 0) return true;
    GemmWgmmaSchedule s;
    s.swap_ab = x[swap_ab], s.bm = x[bm], s.bn = x[bn];
    return gemm_wgmma_grid(p, s, limits).tiles > limits.cores;
  });
  space.require("only persistent blocks have tiles to take in turn", {ping_pong, persistent},
                [=](const Point& x) { return x[ping_pong] == 0 || x[persistent] == 1; });
  // Eight lines are one pattern of the swizzle.
  space.require("a block's slice of the other side's tile is not of eight lines", {swap_ab, bn, cluster_bm},
                [=](const Point& x) {
                  GemmWgmmaSchedule s;
                  s.swap_ab = x[swap_ab], s.bn = x[bn], s.cluster_bm = x[cluster_bm];
                  const GemmWgmmaTile tile = gemm_wgmma_tile(p, s, false);
                  return tile.box_outer % (8 * tile.slices) == 0;
                });
  space.require(
      "there are not as many multiprocessors as a cluster needs", {persistent, cluster_bm, cluster_bn},
      [=](const Point& x) { return x[persistent] == 0 || x[cluster_bm] * x[cluster_bn] <= limits.cores; });
  space.require("blocks that split k take one tile each", {persistent, split_k},
                [=](const Point& x) { return x[split_k] == 1 || x[persistent] == 0; });
  space.require("k is too short to be split, or the grid is large without that",
                {swap_ab, bm, bn, k_atoms, split_k}, [=](const Point& x) {
                  GemmWgmmaSchedule s = schedule(x);
                  s.split_k = x[split_k];
                  const std::int64_t tiles = gemm_wgmma_grid(p, s, limits).tiles;
                  return may_split_k(gemm_wgmma_split_k(p, s), p.size.k, tiles, tiles * s.bm * s.bn * 4,
                                     limits.cores);
                });
  space.require("blocks that split k have no more registers than are dealt out evenly",
                {bm, bn, k_atoms, consumers, ping_pong, split_k}, [=](const Point& x) {
                  // A second set of sums, or an epilogue's functions, take some beside them; integers spilled
                  // with 80 of two consumers and 128 of one.
                  const std::int64_t others = p.accum == DType::kS32 ? 40 : p.two_level || fused ? 32 : 16;
                  return x[split_k] == 1 ||
                         gemm_wgmma_sums(p, schedule(x)) <= 320 / (1 + x[consumers]) - others;
                });
  space.require("C does not fit into the place of the stages",
                {swap_ab, bm, bn, k_atoms, consumers, ping_pong, store, stages}, [=](const Point& x) {
                  if (x[store] != 3) return true;
                  GemmWgmmaSchedule s = schedule(x);
                  const GemmWgmmaTile below = gemm_wgmma_tile(p, s, gemm_wgmma_c_takes_rows(s));
                  return gemm_wgmma_stage(p, s).elements() * size_of(p.output) <=
                         x[stages] * below.stage_elements() * p.bytes();
                });
  space.require("needs more shared memory than a block may have",
                {swap_ab, bm, bn, k_atoms, consumers, ping_pong, split_k, reduce, store, stages},
                [=](const Point& x) {
                  GemmWgmmaSchedule s = schedule(x);
                  s.stages = x[stages], s.store = x[store], s.split_k = x[split_k], s.reduce = x[reduce];
                  return gemm_wgmma_shared_bytes(p, s) <= limits.shared_bytes_per_block;
                });
  space.require("more stages than steps along k", {k_atoms, persistent, split_k, stages},
                [=](const Point& x) {
                  const SplitK split{x[split_k], ceil_div(rows_of_k, x[k_atoms])};
                  return x[stages] <= std::max<std::int64_t>(2, split.most() * (1 + 3 * x[persistent]));
                });
  space.require("ptxas serialises instructions in flight for so few accumulators",
                {bm, bn, consumers, ping_pong, in_flight}, [=](const Point& x) {
                  GemmWgmmaSchedule s;
                  s.bm = x[bm], s.bn = x[bn], s.consumers = x[consumers], s.ping_pong = x[ping_pong];
                  return x[in_flight] == 0 || s.accumulators() >= kLeastInFlight;
                });
  space.require("more tiles walked together than there are", {swap_ab, bm, cluster_bm, raster},
                [=](const Point& x) {
                  const std::int64_t tile = x[bm] * x[cluster_bm];
                  return x[raster] == 1 || x[raster] <= ceil_div(x[swap_ab] == 1 ? n : m, tile);
                });
  space.require(
      "the order of one column of tiles has no meaning", {swap_ab, bn, cluster_bn, raster},
      [=](const Point& x) { return x[raster] == 1 || (x[swap_ab] == 1 ? m : n) > x[bn] * x[cluster_bn]; });
  space.require("a Hilbert curve goes through whole squares of 4 x 4 tiles and more",
                {swap_ab, bm, bn, cluster_bm, cluster_bn, raster, hilbert}, [=](const Point& x) {
                  if (x[hilbert] == 0) return true;
                  GemmWgmmaSchedule s;
                  s.swap_ab = x[swap_ab], s.bm = x[bm], s.bn = x[bn];
                  const GemmWgmmaGrid grid = gemm_wgmma_grid(p, s, limits);
                  return x[raster] >= 4 && grid.rows % (x[cluster_bm] * x[raster]) == 0 &&
                         grid.columns % (x[cluster_bn] * x[raster]) == 0;
                });
  return space;
}

// The tile that the public kernels settle on (kernels.md sections 3.1 and 3.2) where it fills the
// multiprocessors, smaller ones where it does not; few rows of C go to the side of the columns (section 5).
Config gemm_wgmma_default(const Workload& workload, const Limits& limits) {
  const GemmWgmmaProblem p = gemm_wgmma_problem(workload);
  const FamilySpace space = gemm_wgmma_space(workload, limits);
  GemmWgmmaSchedule s;
  s.k_atoms = 128 / p.span;
  const auto fills = [&](std::int64_t bm, std::int64_t bn) {
    s.bm = bm, s.bn = bn, s.persistent = 0;
    return gemm_wgmma_grid(p, s, limits).tiles >= limits.cores;
  };
  if (p.size.m <= 64) {
    s.swap_ab = 1, s.bm = 64, s.consumers = 1;
    const std::int64_t step = p.size.m > 32 ? 16 : 8;
    s.bn = ceil_div(p.size.m, step) * step;
  } else if (!fills(128, 256) && !fills(128, 128) && !fills(128, 64)) {
    s.bm = 64, s.bn = 64, s.consumers = 1;
  }
  if (s.swap_ab == 0) s.bn = std::min(s.bn, covering(kColumns, p.size.n).back());
  const std::int64_t tiles = gemm_wgmma_grid(p, s, limits).tiles;
  s.persistent = tiles > limits.cores ? 1 : 0;
  s.split_k = default_split_k(p.size.k, tiles, limits.cores);
  const std::int64_t stage = gemm_wgmma_shared_bytes(p, s) / s.stages;
  s.stages = std::clamp<std::int64_t>(limits.shared_bytes_per_block / (stage + 64), 2, 12);
  return cpu::nearest_config(space,
                             {s.swap_ab, s.bm, s.bn, s.k_atoms, s.consumers, s.ping_pong, s.persistent, 1, 1,
                              s.split_k, 0,    0,    0,         0,           s.stages,    s.in_flight,  8, 0,
                              0,         0});
}

}  // namespace lehr
