// The schedules of conv2d_winograd: knobs, rules, default, and values derived from a schedule (threads, work
// of each thread in the copies, shared memory, registers).
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/limits.h"
#include "space/knobs.h"
#include "templates/shared/split_k.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; winograd_cuda_knobs() states their meanings and units. A tile of outputs needs (tile + 2)^2
/// products, and for each of these the family multiplies two matrices: m is the output channel, n the tile, k
/// the input channel. Sizes are powers of two.
struct WinogradCudaSchedule {
  std::int64_t tile = 2;          ///< outputs of a tile along each dimension: 2 or 4
  std::int64_t bm = 32, bn = 32;  ///< output channels and tiles of a block
  std::int64_t tm = 8, tn = 8;    ///< output channels and tiles of a thread
  std::int64_t products = 1;      ///< number of the (tile + 2)^2 products that one thread computes
  std::int64_t bk = 8;            ///< number of input channels in a group, which are multiplied together
  /// Number of blocks that share a tile; each multiplies its own input channels.
  std::int64_t split_k = 1;
  std::int64_t stages = 1;  ///< number of groups of input channels in shared memory
  /// 1: the next inputs and filters are loaded into registers during the products.
  std::int64_t prefetch = 0;
  std::int64_t pad = 0;             ///< padding elements after each row in shared memory
  std::int64_t rounds = 1;          ///< number of rounds in which the sums go through shared memory
  std::int64_t unroll = 1;          ///< number of input channels that are unrolled
  std::int64_t channels_first = 0;  ///< 1: neighbouring blocks have the same tiles, 0: the same channels
  std::int64_t min_blocks = 1;      ///< minimum number of blocks on a multiprocessor, for the launch bounds

  std::int64_t inputs() const { return tile + 2; }
  std::int64_t all_products() const { return inputs() * inputs(); }
  std::int64_t thread_rows() const { return bm / tm; }
  std::int64_t thread_columns() const { return bn / tn; }
  /// Returns the number of threads that compute one product (or `products` of them) together.
  std::int64_t group() const { return thread_rows() * thread_columns(); }
  std::int64_t threads() const { return all_products() / products * group(); }
  std::int64_t sums() const { return products * tm * tn; }
  /// Return the number of neighbours along m (and along n) that a thread moves together.
  std::int64_t vector_m() const { return std::min<std::int64_t>(tm, 4); }
  std::int64_t vector_n() const { return std::min<std::int64_t>(tn, 4); }
  /// Returns the number of output channels of one round.
  std::int64_t round_channels() const { return bm / rounds; }
};

/// Values derived from a convolution and a schedule.
struct WinogradCudaShape {
  std::int64_t rows = 1, columns = 1;       ///< tiles of an image, vertically and horizontally
  std::int64_t tiles = 1;                   ///< tiles of all images
  std::int64_t blocks_m = 1, blocks_n = 1;  ///< blocks along output channels and along tiles
  /// Elements from one input channel to the next: of filters, of inputs.
  std::int64_t u_stride = 0, v_stride = 0;
  /// Elements of one group of input channels: first the filters, then the inputs.
  std::int64_t stage = 0;
  /// Elements from one output channel to the next in the sums of a round.
  std::int64_t sums_stride = 0;
  /// Maximum numbers of patches and of filters that a thread transforms.
  std::int64_t patches = 1, filters = 1;
  std::int64_t fetched = 0;  ///< number of elements in these patches and filters
  /// Maximum number of (tile, channel) pairs that a thread transforms in one round.
  std::int64_t outputs = 1;
  SplitK split;                      ///< distribution of the groups of input channels over blocks
  std::int64_t shared_elements = 0;  ///< the larger of all stages and the sums of a round
  std::int64_t blocks() const { return blocks_m * blocks_n; }
};
WinogradCudaShape winograd_cuda_shape(const Conv2d& conv, const WinogradCudaSchedule& schedule);

/// Returns an upper bound on the 32-bit registers that ptxas needs for a thread without spilling (the .cpp
/// has its source).
std::int64_t winograd_cuda_registers(const Conv2d& conv, const WinogradCudaSchedule& schedule);
/// Returns the shared memory of a block in bytes.
std::int64_t winograd_cuda_shared_bytes(const Conv2d& conv, const WinogradCudaSchedule& schedule);

void winograd_cuda_knobs(Knobs<WinogradCudaSchedule>& k, const Workload& workload, const Limits& limits);
WinogradCudaSchedule winograd_cuda_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
