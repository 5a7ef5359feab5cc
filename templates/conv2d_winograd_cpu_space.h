// The schedules of conv2d_winograd_cpu: knobs, constraints, default, and the shapes of its scratch memory.
#pragma once

#include "base/limits.h"
#include "space/space.h"
#include "templates/workload.h"

namespace lehr {

/// The knobs by name; meanings and units are those of conv2d_winograd_cpu_space().
struct WinogradCpuSchedule {
  std::int64_t tile = 4;  ///< outputs of a tile along each side: 2 or 4
  std::int64_t threads = 1;
  std::int64_t split =
      0;  ///< 0: rows of tiles over the threads, 1: output channels, 2: images (one task each)
  std::int64_t lanes = 16;
  std::int64_t mr = 1;      ///< output channels of the micro-kernel
  std::int64_t nv = 1;      ///< vectors of tiles of the micro-kernel
  std::int64_t rows = 1;    ///< rows of tiles per block
  std::int64_t panels = 1;  ///< micro-kernels of output channels per block
  std::int64_t order = 0;   ///< outer loop of a product: 0 tiles, 1 output channels
};
WinogradCpuSchedule winograd_cpu_schedule(const Config& config);

/// The tiles of a convolution, and of a block of their rows.
struct WinogradTiles {
  std::int64_t rows = 1, columns = 1;  ///< of the whole output
  std::int64_t groups = 1;             ///< vectors of tiles that cover a row of tiles
  /// Room for the tiles of a block: its rows of tiles one after the other, each stored in whole vectors, in
  /// whole micro-kernels.
  std::int64_t room = 1;
  /// Elements of one transformed line of the input: what the vectors of tiles read, and what the vectors of
  /// the image's line write.
  std::int64_t line = 1;
};
WinogradTiles winograd_tiles(const Conv2d& conv, const WinogradCpuSchedule& schedule);

FamilySpace winograd_cpu_space(const Workload& workload, const Limits& limits);
Config winograd_cpu_default(const Workload& workload, const Limits& limits);

}  // namespace lehr
