// The schedules of conv2d_winograd_cpu: knobs, rules, default, and the shapes of its scratch memory.
#pragma once

#include "base/limits.h"
#include "space/knobs.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; winograd_cpu_knobs() states their meanings and units.
struct WinogradCpuSchedule {
  /// Outputs of a tile along each dimension: 2 or 4.
  std::int64_t tile = 4;
  std::int64_t threads = 1;
  /// Work that the threads divide among them. 0: rows of tiles, 1: output channels, 2: images (one work item
  /// each).
  std::int64_t split = 0;
  std::int64_t lanes = 16;
  /// Tiles of the micro-kernel.
  std::int64_t mr = 1;
  /// Vectors of output channels of the micro-kernel, which make up a panel.
  std::int64_t nv = 1;
  /// Rows of tiles per block.
  std::int64_t rows = 1;
  /// Panels per block.
  std::int64_t panels = 1;
  /// Outer loop of a product. 0: tiles, 1: panels.
  std::int64_t order = 0;
  /// 1: a panel is prefetched while the previous panel is used.
  std::int64_t prefetch = 0;
};

/// Values derived from a convolution and a schedule.
struct WinogradCpuShape {
  std::int64_t rows = 1, columns = 1;       ///< tiles of the whole output, vertically and horizontally
  std::int64_t owned_rows = 1;              ///< maximum number of rows of tiles that one work item computes
  std::int64_t block_rows = 1;              ///< number of rows of tiles in a block
  std::int64_t nr = 1;                      ///< output channels of a panel
  std::int64_t panels = 1;                  ///< number of panels for all output channels
  std::int64_t owned_panels = 1;            ///< maximum number of panels that one work item computes
  std::int64_t block_panels = 1;            ///< number of panels in a block
  std::int64_t channels = 1;                ///< number of input channels, rounded up to whole vectors
  std::int64_t lines_in = 1, width_in = 1;  ///< input lines of a block, and pixels of a padded line
  std::int64_t tiles() const { return block_rows * columns; }  ///< number of tiles in a block
};
WinogradCpuShape winograd_cpu_shape(const Conv2d& conv, const WinogradCpuSchedule& schedule);

void winograd_cpu_knobs(Knobs<WinogradCpuSchedule>& k, const Workload& workload, const Limits& limits);
WinogradCpuSchedule winograd_cpu_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
