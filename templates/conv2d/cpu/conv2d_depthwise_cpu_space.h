// The schedules of conv2d_depthwise_cpu: knobs, rules, default, and the shapes of its scratch memory.
#pragma once

#include <vector>

#include "base/limits.h"
#include "space/knobs.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; meanings and units are those of depthwise_cpu_knobs().
struct DepthwiseCpuSchedule {
  std::int64_t threads = 1;
  std::int64_t split = 0;  ///< 0: channels over the threads, 1: tiles of lines
  std::int64_t lanes = 16;
  std::int64_t rows = 1;   ///< output lines of a tile
  std::int64_t cols = 1;   ///< vectors of a tile along the line: of pixels (nchw), one pixel each (nhwc)
  std::int64_t copy = 1;   ///< whether input lines are copied to padded memory before they are used
  std::int64_t block = 1;  ///< tiles of lines between two copies, or between two vectors of channels
  /// 0: loops, 1: each input vector is used for all lines of the tile that need it, 2: four lines are used at
  /// once, likewise
  std::int64_t taps = 1;
  std::int64_t hold = 0;  ///< whether the filter stays in registers
};

/// Values derived from a convolution and a schedule. A *unit* is the output of one filter vector: a plane
/// (nchw) or `lanes` channels (nhwc).
struct DepthwiseCpuShape {
  bool nhwc = false;
  std::int64_t units = 1;      ///< units of all images (nchw) or of each (nhwc)
  std::int64_t row_tiles = 1;  ///< tiles of lines of one unit and image
  std::int64_t column_tiles = 1;
  std::int64_t owned = 1;     ///< tiles of lines of one work item, at most
  std::int64_t block = 1;     ///< tiles of lines of one block
  std::int64_t tile_in = 1;   ///< input lines that one tile reads
  std::int64_t block_in = 1;  ///< input lines that a block reads
  std::int64_t phases = 1;    ///< sets of pixels of a line, by their column modulo the stride (nchw)
  std::int64_t pitch = 1;     ///< elements of one set
  std::int64_t line() const { return phases * pitch; }
  std::int64_t copy_elements() const { return block_in * line(); }
};
/// Four lines of a tile's input from `first` on, and an output line for which they have some taps.
struct DepthwiseQuad {
  std::int64_t first = 0, row = 0;
  /// Returns the row of the filter that belongs to line `e` of the four, or -1.
  std::int64_t tap(const Conv2d& conv, std::int64_t e) const;
};
/// Returns the quads of a tile, by lines.
std::vector<DepthwiseQuad> depthwise_quads(const Conv2d& conv, std::int64_t rows);

DepthwiseCpuShape depthwise_cpu_shape(const Conv2d& conv, const DepthwiseCpuSchedule& schedule);

void depthwise_cpu_knobs(Knobs<DepthwiseCpuSchedule>& k, const Workload& workload, const Limits& limits);
DepthwiseCpuSchedule depthwise_cpu_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
