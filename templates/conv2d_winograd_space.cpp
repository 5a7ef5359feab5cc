#include "templates/conv2d_winograd_space.h"

#include <limits>
#include <optional>
#include <vector>

#include "templates/cpu_common.h"
#include "templates/cuda_common.h"

namespace lehr {
namespace {

using cpu::ceil_div;

using Values = std::vector<std::int64_t>;

// Loop counters, places, addresses and conditions; more where a copy's inputs stay in registers during the
// products, and for each further product of a thread. Fitted to NVRTC 13.0 on sm_80 and sm_90a: of 350
// sampled schedules within 15 registers of what they may have, those that the sum lets through do not spill;
// the first that spill are 2 registers above.
constexpr std::int64_t kOtherRegisters = 34, kPrefetchRegisters = 12, kProductRegisters = 12;

/// Elements that a thread fetches for one copy: more cost code and registers, and hide no more latency.
constexpr std::int64_t kMaxFetched = 72;
/// Outputs that a thread of a block that splits k keeps for the exchange.
constexpr std::int64_t kMaxKept = 64;
constexpr std::int64_t kMaxUnrolled = 1024;  // multiply-adds: as gemm_simt has it
constexpr std::int64_t kSharedAlignment = 16;

/// Those of `values` of which at most half stands out beyond `extent`, and the first.
Values not_half_empty(std::int64_t extent, Values values) {
  while (values.size() > 1 && values.back() >= 2 * extent) values.pop_back();
  return values;
}

/// Thread tiles of a block tile.
Values thread_extents(std::int64_t tile) {
  Values extents;
  for (const std::int64_t extent : {2, 4, 8, 16})
    if (extent <= tile && (extent >= 4 || tile < 16)) extents.push_back(extent);
  return extents;
}

/// Of a patch's (tile + 2)^2 products.
Values product_counts(std::int64_t tile) {
  return tile == 2 ? Values{1, 2} : Values{1, 2, 3};
}

/// Of the whole grid, by counting instructions of one lane (NVRTC 13.0, sm_90a): those of a patch, of a
/// filter, and a fifth beside the multiply-adds; a multiprocessor issues 128 lanes a cycle. A block's
/// beginning and end, and the exchange of parts, take some 2000 cycles each.
double estimated_cycles(const Conv2d& conv, const WinogradCudaSchedule& s, int cores) {
  const double patch = s.tile == 2 ? 86 : 270, filter = s.tile == 2 ? 69 : 128, fixed = 2000;
  const WinogradCudaShape shape = winograd_cuda_shape(conv, s);
  const auto m = static_cast<double>(s.bm), n = static_cast<double>(s.bn);
  const double channel = 1.2 * static_cast<double>(s.all_products()) * m * n + n * patch + m * filter;
  const auto channels = static_cast<double>(ceil_div(conv.c, s.split_k));
  const auto waves = static_cast<double>(ceil_div(shape.blocks() * s.split_k, cores));
  return waves * (channels * channel / 128 + (s.split_k > 1 ? 2 * fixed : fixed));
}

}  // namespace

WinogradCudaSchedule winograd_cuda_schedule(const Config& config) {
  KnobReader knobs(config);
  WinogradCudaSchedule s;
  s.tile = knobs.at("tile");
  s.bm = knobs.at("bm");
  s.bn = knobs.at("bn");
  s.tm = knobs.at("tm");
  s.tn = knobs.at("tn");
  s.products = knobs.at("products");
  s.bk = knobs.at("bk");
  s.split_k = knobs.at("split_k");
  s.stages = knobs.at("stages");
  s.prefetch = knobs.at("prefetch");
  s.pad = knobs.at("pad");
  s.rounds = knobs.at("rounds");
  s.unroll = knobs.at("unroll");
  s.channels_first = knobs.at("channels_first");
  s.min_blocks = knobs.at("min_blocks");
  return s;
}

WinogradCudaShape winograd_cuda_shape(const Conv2d& conv, const WinogradCudaSchedule& s) {
  WinogradCudaShape shape;
  shape.rows = ceil_div(conv.out_h(), s.tile), shape.columns = ceil_div(conv.out_w(), s.tile);
  shape.tiles = conv.n * shape.rows * shape.columns;
  shape.blocks_m = ceil_div(conv.k, s.bm), shape.blocks_n = ceil_div(shape.tiles, s.bn);
  shape.u_stride = s.bm + s.pad;
  // With nchw, neighbouring threads have neighbouring tiles: there are no conflicts to avoid.
  shape.v_stride = s.bn + (conv.layout == ImageLayout::kNhwc ? s.pad : 0);
  shape.stage = s.all_products() * s.bk * (shape.u_stride + shape.v_stride);
  shape.sums_stride = s.bn + s.pad;
  shape.patches = ceil_div(s.bk * s.bn, s.threads());
  shape.filters = ceil_div(s.bk * s.bm, s.threads());
  shape.fetched = shape.patches * s.all_products() + shape.filters * 9;
  shape.outputs = ceil_div(s.round_channels() * s.bn, s.threads());
  shape.split = {s.split_k, ceil_div(conv.c, s.bk)};
  shape.shared_elements =
      std::max(s.stages * shape.stage, s.all_products() * s.round_channels() * shape.sums_stride);
  return shape;
}

std::int64_t winograd_cuda_registers(const Conv2d& conv, const WinogradCudaSchedule& s) {
  const WinogradCudaShape shape = winograd_cuda_shape(conv, s);
  const std::int64_t fetched = s.prefetch == 1
                                   ? shape.fetched + (s.tm + s.tn) * 3 / 2 + kPrefetchRegisters
                                   : std::max(shape.patches * s.all_products() + s.all_products() / 2,
                                              shape.filters * 9 + s.all_products() / 2);
  const std::int64_t multiplying = s.sums() + fetched + (s.products - 1) * kProductRegisters;
  const std::int64_t kept = s.split_k > 1 ? s.rounds * shape.outputs * s.tile * s.tile : 0;
  const std::int64_t writing = s.sums() + kept + s.all_products() + s.tile * s.tile;
  return std::max(multiplying, writing) + kOtherRegisters;
}

std::int64_t winograd_cuda_shared_bytes(const Conv2d& conv, const WinogradCudaSchedule& s) {
  const std::int64_t bytes = 4 * winograd_cuda_shape(conv, s).shared_elements;
  return ceil_div(bytes, kSharedAlignment) * kSharedAlignment + (s.split_k > 1 ? kSplitKSharedBytes : 0);
}

FamilySpace winograd_cuda_space(const Workload& workload, const Limits& limits) {
  const Conv2d conv = workload.conv2d();
  FamilySpace space("conv2d_winograd");
  const auto tiles_of = [=](std::int64_t tile) {
    return conv.n * ceil_div(conv.out_h(), tile) * ceil_div(conv.out_w(), tile);
  };
  const KnobId tile = space.add("tile", "outputs of a tile along each side", {2, 4});
  const KnobId bm = space.add("bm", "output channels per block", not_half_empty(conv.k, {16, 32, 64, 128}));
  const Values all_bn = not_half_empty(tiles_of(2), {4, 8, 16, 32, 64});
  const KnobId bn = space.add_dependent("bn", "tiles per block", all_bn, [=](const Point& x) {
    return not_half_empty(tiles_of(x[tile]), all_bn);
  });
  const KnobId tm = space.add_dependent("tm", "output channels per thread", {4, 8, 16},
                                        [=](const Point& x) { return thread_extents(x[bm]); });
  const KnobId tn = space.add_dependent("tn", "tiles per thread",
                                        all_bn.front() >= 16 ? Values{4, 8, 16} : Values{2, 4, 8, 16},
                                        [=](const Point& x) { return thread_extents(x[bn]); });
  const KnobId products =
      space.add_dependent("products", "of a tile's 16 or 36 products, per thread", {1, 2, 3},
                          [=](const Point& x) { return product_counts(x[tile]); });
  const KnobId bk = space.add("bk", "input channels per copy", not_half_empty(conv.c, {4, 8, 16}));
  const KnobId split_k = space.add("split_k", "blocks that share a tile, each with its input channels",
                                   split_k_values(conv.products()));
  const KnobId stages = space.add("stages", "copies in shared memory", {1, 2});
  const KnobId prefetch =
      space.add("prefetch", "the next copy is fetched 0: behind the products, 1: during them", {0, 1});
  const KnobId pad = space.add("pad", "elements behind a row in shared memory", {0, 4});
  const KnobId rounds = space.add_dependent(
      "rounds", "in which the sums go through shared memory", {1, 2, 4},
      [=](const Point& x) { return powers_of_two(1, std::max<std::int64_t>(1, x[tm] / 4)); });
  const KnobId unroll = space.add_dependent("unroll", "input channels unrolled", {1, 2, 4, 8, 16},
                                            [=](const Point& x) { return powers_of_two(1, x[bk]); });
  const KnobId channels_first =
      space.add("channels_first", "neighbouring blocks have the same 0: channels, 1: tiles", {0, 1});
  const KnobId min_blocks = space.add("min_blocks", "blocks that a multiprocessor must hold", {1, 2, 3});

  const auto tile_of = [=](const Point& x) {
    WinogradCudaSchedule s;
    s.tile = x[tile], s.bm = x[bm], s.bn = x[bn], s.tm = x[tm], s.tn = x[tn], s.products = x[products];
    return s;
  };
  const auto copy_of = [=](const Point& x) {
    WinogradCudaSchedule s = tile_of(x);
    s.bk = x[bk], s.split_k = x[split_k], s.stages = x[stages], s.prefetch = x[prefetch], s.pad = x[pad];
    s.rounds = x[rounds];
    return s;
  };
  const std::vector<KnobId> tile_knobs = {tile, bm, bn, tm, tn, products};
  const std::vector<KnobId> copy_knobs = {tile, bm,      bn,     tm,       tn,  products,
                                          bk,   split_k, stages, prefetch, pad, rounds};
  space.require("too many sums, or too few to hide the latency of a multiply-add", {tm, tn, products},
                [=](const Point& x) {
                  const std::int64_t sums = x[tm] * x[tn] * x[products];
                  return sums >= 16 && sums <= 128;
                });
  space.require("a thread's tile is long and narrow", {tm, tn},
                [=](const Point& x) { return x[tm] <= 4 * x[tn] && x[tn] <= 4 * x[tm]; });
  space.require("threads that do not fill warps, fewer than two of these, or too many", tile_knobs,
                [=](const Point& x) {
                  const std::int64_t threads = tile_of(x).threads();
                  return threads % limits.warp_size == 0 && threads >= 2 * limits.warp_size &&
                         threads <= limits.max_threads_per_block;
                });
  space.require("too many patches or filters per thread", {tile, bm, bn, tm, tn, products, bk},
                [=](const Point& x) {
                  WinogradCudaSchedule s = tile_of(x);
                  s.bk = x[bk];
                  return winograd_cuda_shape(conv, s).fetched <= kMaxFetched;
                });
  space.require("there are too few input channels to share, or the grid is large without that",
                {tile, bm, bn, tm, tn, products, bk, split_k}, [=](const Point& x) {
                  WinogradCudaSchedule s = tile_of(x);
                  s.bk = x[bk], s.split_k = x[split_k];
                  const WinogradCudaShape shape = winograd_cuda_shape(conv, s);
                  const std::int64_t part = shape.blocks() * s.bm * s.bn * s.tile * s.tile * 4;
                  return may_split_k(shape.split, conv.products(), shape.blocks(), part, limits.cores);
                });
  space.require(
      "a single group of input channels needs no second stage and no prefetch",
      {bk, split_k, stages, prefetch}, [=](const Point& x) {
        return SplitK{x[split_k], ceil_div(conv.c, x[bk])}.most() > 1 || (x[stages] == 1 && x[prefetch] == 0);
      });
  space.require("needs more shared memory than a block may have", copy_knobs, [=](const Point& x) {
    return winograd_cuda_shared_bytes(conv, copy_of(x)) <= limits.shared_bytes_per_block;
  });
  space.require("keeps too many outputs for the exchange", copy_knobs, [=](const Point& x) {
    const WinogradCudaSchedule s = copy_of(x);
    return s.split_k == 1 || s.rounds * winograd_cuda_shape(conv, s).outputs * s.tile * s.tile <= kMaxKept;
  });
  space.require("too much code", {tm, tn, products, unroll},
                [=](const Point& x) { return x[tm] * x[tn] * x[products] * x[unroll] <= kMaxUnrolled; });
  space.require("the order of one line of blocks has no meaning", {tile, bm, bn, channels_first},
                [=](const Point& x) {
                  return x[channels_first] == 0 || (conv.k > x[bm] && tiles_of(x[tile]) > x[bn]);
                });
  std::vector<KnobId> residence = copy_knobs;
  residence.push_back(min_blocks);
  space.require(
      "needs more threads than the multiprocessor has for that many blocks", residence,
      [=](const Point& x) { return x[min_blocks] * copy_of(x).threads() <= limits.max_threads_per_core; });
  space.require("needs more shared memory than the multiprocessor has for that many blocks", residence,
                [=](const Point& x) {
                  return cuda::shared_memory_holds(limits, x[min_blocks],
                                                   winograd_cuda_shared_bytes(conv, copy_of(x)));
                });
  space.require("needs more registers than a thread can have", residence, [=](const Point& x) {
    const WinogradCudaSchedule s = copy_of(x);
    return winograd_cuda_registers(conv, s) <= cuda::registers_granted(limits, x[min_blocks], s.threads());
  });
  return space;
}

// The tile, block tile and parts of k with the shortest estimate, with 256 threads or more, since there are
// few blocks to hide latency behind.
Config winograd_cuda_default(const Workload& workload, const Limits& limits) {
  const Conv2d& conv = workload.conv2d();
  const FamilySpace space = winograd_cuda_space(workload, limits);
  std::optional<Config> best;
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](WinogradCudaSchedule s) {
    s.tm = 8, s.tn = std::min<std::int64_t>(8, s.bn);
    while (s.threads() < 256 && s.tm * s.tn > 16) (s.tm > s.tn ? s.tm : s.tn) /= 2;
    const double cycles = estimated_cycles(conv, s, limits.cores);
    if (cycles >= least) return;
    for (const std::int64_t prefetch : {1, 0})
      for (const std::int64_t stages : {2, 1}) {
        const Config config = space.config_of(
            std::vector<std::int64_t>{s.tile, s.bm, s.bn, s.tm, s.tn, 1, 8, s.split_k, stages, prefetch,
                                      // pad, rounds, unroll, channels_first, min_blocks
                                      4, s.tm / 4, 8, 0, 1});
        if (space.why_invalid(config)) continue;
        least = cycles, best = config;
        return;
      }
  };
  for (const std::int64_t tile : {2, 4})
    for (const std::int64_t bm : {16, 32, 64})
      for (const std::int64_t bn : {4, 8, 16, 32})
        for (const std::int64_t parts : split_k_values(conv.products())) {
          WinogradCudaSchedule s;
          s.tile = tile, s.bm = bm, s.bn = bn, s.split_k = parts;
          consider(s);
        }
  if (best) return *best;
  return cpu::nearest_config(space, {2, 16, 4, 4, 4, 1, 4, 1, 1, 0, 4, 1, 4, 0, 1});
}

}  // namespace lehr
