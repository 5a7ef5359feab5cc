// The schedules of conv2d_depthwise_cpu: knobs, rules, default, and the shapes of its scratch memory.
#pragma once

#include <vector>

#include "base/limits.h"
#include "space/knobs.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; depthwise_cpu_knobs() states their meanings and units.
struct DepthwiseCpuSchedule {
  std::int64_t threads = 1;
  std::int64_t split = 0;  ///< what the threads divide among them; 0: channels, 1: tiles of lines
  std::int64_t lanes = 16;
  std::int64_t rows = 1;  ///< output lines of a tile
  /// Vectors of a tile along the line; with nchw a vector holds pixels, with nhwc the channels of a pixel.
  std::int64_t cols = 1;
  std::int64_t copy = 1;  ///< whether input lines are copied to padded memory before they are used
  /// Number of tiles of lines between two copies, or between two vectors of channels.
  std::int64_t block = 1;
  /// How taps are computed. 0: in loops. 1: each input vector is loaded once for all lines of the tile that
  /// need it. 2: the same, with four input lines at a time (dot products).
  std::int64_t taps = 1;
  std::int64_t hold = 0;  ///< whether the filter stays in registers
};

/// Values derived from a convolution and a schedule. A *unit* is the output of one filter vector: a plane
/// (nchw) or `lanes` channels (nhwc).
struct DepthwiseCpuShape {
  bool nhwc = false;
  std::int64_t units = 1;      ///< number of units in all images (nchw) or in each image (nhwc)
  std::int64_t row_tiles = 1;  ///< number of tiles of lines in one unit of one image
  std::int64_t column_tiles = 1;
  std::int64_t owned = 1;     ///< maximum number of tiles of lines that one work item computes
  std::int64_t block = 1;     ///< number of tiles of lines in a block
  std::int64_t tile_in = 1;   ///< number of input lines that a tile reads
  std::int64_t block_in = 1;  ///< number of input lines that a block reads
  std::int64_t phases = 1;    ///< number of phases of a line: pixels by their column modulo the stride (nchw)
  std::int64_t pitch = 1;     ///< elements of one phase
  std::int64_t line() const { return phases * pitch; }
  std::int64_t copy_elements() const { return block_in * line(); }
};
/// Four consecutive lines of a tile's input, from `first` on, and an output line that at least one of them
/// has a tap for.
struct DepthwiseQuad {
  std::int64_t first = 0, row = 0;
  /// Returns the filter row that multiplies line `e` of the four for this output line; -1 if no row does.
  std::int64_t tap(const Conv2d& conv, std::int64_t e) const;
};
/// Returns the quads of a tile, ordered by their lines.
std::vector<DepthwiseQuad> depthwise_quads(const Conv2d& conv, std::int64_t rows);

DepthwiseCpuShape depthwise_cpu_shape(const Conv2d& conv, const DepthwiseCpuSchedule& schedule);

void depthwise_cpu_knobs(Knobs<DepthwiseCpuSchedule>& k, const Workload& workload, const Limits& limits);
DepthwiseCpuSchedule depthwise_cpu_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
