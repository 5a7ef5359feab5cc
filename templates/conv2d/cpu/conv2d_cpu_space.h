// The schedules of conv2d_cpu: knobs, rules, default, and the shapes of its scratch memory.
#pragma once

#include "base/limits.h"
#include "space/knobs.h"
#include "templates/shared/planes_cpu.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; conv2d_cpu_knobs() states their meanings and units.
struct Conv2dCpuSchedule {
  std::int64_t threads = 1;
  /// Work that the threads divide among them. 0: output lines, 1: output channels, 2: images (one work item
  /// each).
  std::int64_t split = 0;
  std::int64_t lanes = 16;
  /// Output channels of the micro-kernel.
  std::int64_t mr = 1;
  /// Vectors of pixels of the micro-kernel.
  std::int64_t nv = 1;
  /// Output lines per block.
  std::int64_t lines = 1;
  /// Input channels per block.
  std::int64_t cc = 1;
  /// Outer loop inside a block. 0: pixels, 1: output channels.
  std::int64_t order = 0;
  /// Loops that are unrolled. 0: none, 1: a line of the filter, 2: the whole filter.
  std::int64_t taps = 0;
  /// How filters are read. 0: as they lie in memory, 1: prepacked for the micro-kernel.
  std::int64_t packed = 0;
};

/// The planes for a block of output lines. Output pixels are numbered along the planes' lines, which are
/// wider than output lines. The surplus pixels at the ends of lines are computed and dropped.
struct Conv2dPlanes : cpu::ImagePlanes {
  std::int64_t pixels = 1;  ///< pixels of a block of output lines, including surplus pixels
  std::int64_t tiles = 1;   ///< number of tiles, each of nv x lanes pixels
};
Conv2dPlanes conv2d_planes(const Conv2d& conv, const Conv2dCpuSchedule& schedule);

void conv2d_cpu_knobs(Knobs<Conv2dCpuSchedule>& k, const Workload& workload, const Limits& limits);
Conv2dCpuSchedule conv2d_cpu_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
