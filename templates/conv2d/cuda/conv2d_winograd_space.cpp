#include "templates/conv2d/cuda/conv2d_winograd_space.h"

#include <limits>
#include <vector>

#include "base/ceil_div.h"
#include "templates/family.h"
#include "templates/shared/cuda_common.h"

namespace lehr {
namespace {

using Values = std::vector<std::int64_t>;

// Registers for loop counters, positions, addresses and conditions; additional ones if the inputs of a copy
// stay in registers during the products, and for each further product of a thread. Fitted to NVRTC 13.0 on
// sm_80 and sm_90a: 350 schedules within 15 registers of their limit were sampled. Those that are admitted do
// not spill, and the first that spill are 2 registers above.
constexpr std::int64_t kOtherRegisters = 34, kPrefetchRegisters = 12, kProductRegisters = 12;

/// Maximum number of elements that a thread fetches for one copy. More cost code and registers, and hide no
/// more latency.
constexpr std::int64_t kMaxFetched = 72;
/// Maximum number of outputs that a thread keeps for the exchange if blocks split k.
constexpr std::int64_t kMaxKept = 64;
constexpr std::int64_t kMaxUnrolled = 1024;  // multiply-adds: as in gemm_simt
constexpr std::int64_t kSharedAlignment = 16;

/// Returns the `values` of which at most half lies beyond `extent`, and always the first value.
Values not_half_empty(std::int64_t extent, Values values) {
  while (values.size() > 1 && values.back() >= 2 * extent) values.pop_back();
  return values;
}

/// Returns whether a thread tile may have this extent in a block tile.
bool is_thread_extent(std::int64_t extent, std::int64_t tile) {
  return extent <= tile && (extent >= 4 || tile < 16);
}

/// Returns an estimate of the cycles of the whole grid. It counts the instructions of one lane (NVRTC 13.0,
/// sm_90a): those of a patch, of a filter, and a fifth more than the multiply-adds. A multiprocessor issues
/// 128 lanes per cycle. The beginning and end of a block, and the exchange of sums, take some 2000 cycles
/// each.
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

WinogradCudaShape winograd_cuda_shape(const Conv2d& conv, const WinogradCudaSchedule& s) {
  WinogradCudaShape shape;
  shape.rows = ceil_div(conv.out_h(), s.tile);
  shape.columns = ceil_div(conv.out_w(), s.tile);
  shape.tiles = conv.n * shape.rows * shape.columns;
  shape.blocks_m = ceil_div(conv.k, s.bm);
  shape.blocks_n = ceil_div(shape.tiles, s.bn);
  shape.u_stride = s.bm + s.pad;
  // With nchw, neighbouring threads write neighbouring tiles, so there are no conflicts to avoid.
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

namespace {

using S = WinogradCudaSchedule;

void tile_knobs(Knobs<S>& k, const Conv2d& conv, const Limits& limits) {
  const auto tiles_of = [=](std::int64_t tile) {
    return conv.n * ceil_div(conv.out_h(), tile) * ceil_div(conv.out_w(), tile);
  };
  k.knob(&S::tile, "tile", "outputs of a tile along each side", {2, 4});
  k.knob(&S::bm, "bm", "output channels per block", not_half_empty(conv.k, {16, 32, 64, 128}));
  k.knob(&S::bn, "bn", "tiles per block", not_half_empty(tiles_of(2), {4, 8, 16, 32, 64}));
  k.only([=](const S& s) { return s.bn == 4 || s.bn < 2 * tiles_of(s.tile); });
  k.knob(&S::tm, "tm", "output channels per thread", {4, 8, 16});
  k.only([](const S& s) { return is_thread_extent(s.tm, s.bm); });
  k.knob(&S::tn, "tn", "tiles per thread", {2, 4, 8, 16});
  k.only([](const S& s) { return is_thread_extent(s.tn, s.bn); });
  k.forbid("a thread's tile is long and narrow",
           [](const S& s) { return s.tm > 4 * s.tn || s.tn > 4 * s.tm; });
  k.knob(&S::products, "products", "of a tile's 16 or 36 products, per thread", {1, 2, 3});
  k.only([](const S& s) { return s.products < 3 || s.tile == 4; });
  k.forbid("too many sums, or too few to hide the latency of a multiply-add",
           [](const S& s) { return s.sums() < 16 || s.sums() > 128; });
  k.forbid("threads that do not fill warps, fewer than two of these, or too many", [=](const S& s) {
    const std::int64_t threads = s.threads();
    return threads % limits.warp_size != 0 || threads < 2 * limits.warp_size ||
           threads > limits.max_threads_per_block;
  });
}

void copy_knobs(Knobs<S>& k, const Conv2d& conv, const Limits& limits) {
  k.knob(&S::bk, "bk", "input channels per copy", not_half_empty(conv.c, {4, 8, 16}));
  k.forbid("too many patches or filters per thread",
           [=](const S& s) { return winograd_cuda_shape(conv, s).fetched > kMaxFetched; });
  k.knob(&S::split_k, "split_k", "blocks that share a tile, each with its input channels",
         split_k_values(conv.products()));
  k.forbid("there are too few input channels to share, or the grid is large without that", [=](const S& s) {
    const WinogradCudaShape shape = winograd_cuda_shape(conv, s);
    const std::int64_t part = shape.blocks() * s.bm * s.bn * s.tile * s.tile * 4;
    return !may_split_k(shape.split, conv.products(), shape.blocks(), part, limits.cores);
  });
  k.knob(&S::stages, "stages", "copies in shared memory", {1, 2});
  k.knob(&S::prefetch, "prefetch", "the next copy is fetched 0: behind the products, 1: during them", {0, 1});
  k.forbid("a single group of input channels needs no second stage and no prefetch", [=](const S& s) {
    return winograd_cuda_shape(conv, s).split.most() == 1 && (s.stages > 1 || s.prefetch == 1);
  });
  k.knob(&S::pad, "pad", "elements behind a row in shared memory", {0, 4});
  k.knob(&S::rounds, "rounds", "in which the sums go through shared memory", {1, 2, 4});
  k.only([](const S& s) { return s.rounds == 1 || s.rounds <= s.tm / 4; });
  k.forbid("needs more shared memory than a block may have",
           [=](const S& s) { return winograd_cuda_shared_bytes(conv, s) > limits.shared_bytes_per_block; });
  k.forbid("keeps too many outputs for the exchange", [=](const S& s) {
    return s.split_k > 1 && s.rounds * winograd_cuda_shape(conv, s).outputs * s.tile * s.tile > kMaxKept;
  });
}

}  // namespace

void winograd_cuda_knobs(Knobs<S>& k, const Workload& workload, const Limits& limits) {
  const Conv2d conv = workload.conv2d();
  tile_knobs(k, conv, limits);
  copy_knobs(k, conv, limits);
  k.knob(&S::unroll, "unroll", "input channels unrolled", {1, 2, 4, 8, 16});
  k.only([](const S& s) { return s.unroll <= s.bk; });
  k.forbid("too much code", [](const S& s) { return s.sums() * s.unroll > kMaxUnrolled; });
  k.knob(&S::channels_first, "channels_first", "neighbouring blocks have the same 0: channels, 1: tiles",
         {0, 1});
  k.forbid("the order of one line of blocks has no meaning", [=](const S& s) {
    const WinogradCudaShape shape = winograd_cuda_shape(conv, s);
    return s.channels_first == 1 && (shape.blocks_m == 1 || shape.blocks_n == 1);
  });
  k.knob(&S::min_blocks, "min_blocks", "blocks that a multiprocessor must hold", {1, 2, 3});
  k.forbid("needs more threads than the multiprocessor has for that many blocks",
           [=](const S& s) { return s.min_blocks * s.threads() > limits.max_threads_per_core; });
  k.forbid("needs more shared memory than the multiprocessor has for that many blocks", [=](const S& s) {
    return !cuda::shared_memory_holds(limits, s.min_blocks, winograd_cuda_shared_bytes(conv, s));
  });
  k.forbid("needs more registers than a thread can have", [=](const S& s) {
    return winograd_cuda_registers(conv, s) > cuda::registers_granted(limits, s.min_blocks, s.threads());
  });
}

// Chooses the tile, block tile and split of k with the shortest estimate, among schedules with at least 256
// threads per block: fewer threads hide too little latency.
WinogradCudaSchedule winograd_cuda_wanted(const Workload& workload, const Limits& limits) {
  const Conv2d& conv = workload.conv2d();
  const FamilySpace space = family_space<winograd_cuda_knobs>("conv2d_winograd", workload, limits);
  S best = {.tile = 2, .bm = 16, .bn = 4, .tm = 4, .tn = 4, .bk = 4, .pad = 4, .unroll = 4};
  double least = std::numeric_limits<double>::infinity();
  const auto consider = [&](S s) {
    s.tm = 8;
    s.tn = std::min<std::int64_t>(8, s.bn);
    while (s.threads() < 256 && s.tm * s.tn > 16) (s.tm > s.tn ? s.tm : s.tn) /= 2;
    const double cycles = estimated_cycles(conv, s, limits.cores);
    if (cycles >= least) return;
    s.bk = 8;
    s.pad = 4;
    s.rounds = s.tm / 4;
    s.unroll = 8;
    for (s.prefetch = 1; s.prefetch >= 0; --s.prefetch)
      for (s.stages = 2; s.stages >= 1; --s.stages) {
        if (space.why_invalid(space.config_of(Members::of(s)))) continue;
        least = cycles;
        best = s;
        return;
      }
  };
  for (const std::int64_t tile : {2, 4})
    for (const std::int64_t bm : {16, 32, 64})
      for (const std::int64_t bn : {4, 8, 16, 32})
        for (const std::int64_t parts : split_k_values(conv.products()))
          consider({.tile = tile, .bm = bm, .bn = bn, .split_k = parts});
  return best;
}

}  // namespace lehr
