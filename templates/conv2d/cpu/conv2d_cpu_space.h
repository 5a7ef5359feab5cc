// The schedules of conv2d_cpu: knobs, rules, default, and the shapes of its scratch memory.
#pragma once

#include "base/limits.h"
#include "space/knobs.h"
#include "templates/shared/planes_cpu.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; meanings and units are those of conv2d_cpu_knobs().
struct Conv2dCpuSchedule {
  std::int64_t threads = 1;
  /// 0: output lines over the threads, 1: output channels, 2: images (one work item each).
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
  /// Outer loop inside a block: 0 pixels, 1 output channels.
  std::int64_t order = 0;
  /// Unrolled: 0 none, 1 a filter's line, 2 the whole filter.
  std::int64_t taps = 0;
  /// Filters: 0 read as they lie, 1 prepacked for the micro-kernel.
  std::int64_t packed = 0;
};

/// The planes of a block of output lines. Output pixels are numbered along their wide lines; surplus ones at
/// the ends are computed and dropped.
struct Conv2dPlanes : cpu::ImagePlanes {
  std::int64_t pixels = 1;  ///< pixels of a block of output lines, surplus included
  std::int64_t tiles = 1;   ///< tiles of nv x lanes pixels
};
Conv2dPlanes conv2d_planes(const Conv2d& conv, const Conv2dCpuSchedule& schedule);

void conv2d_cpu_knobs(Knobs<Conv2dCpuSchedule>& k, const Workload& workload, const Limits& limits);
Conv2dCpuSchedule conv2d_cpu_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
