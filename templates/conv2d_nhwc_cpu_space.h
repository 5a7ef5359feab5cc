// The schedules of conv2d_nhwc_cpu: knobs, constraints, default, and the shapes of its scratch memory.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "space/space.h"
#include "templates/workload.h"

namespace lehr {

/// The knobs by name; meanings and units are those of conv2d_nhwc_cpu_space().
struct Conv2dNhwcSchedule {
  std::int64_t threads = 1;
  std::int64_t split =
      0;  ///< 0: output lines over the threads, 1: output channels, 2: images (one task each)
  std::int64_t lanes = 16;
  std::int64_t mr = 1;     ///< pixels of the micro-kernel, of one output line
  std::int64_t nv = 1;     ///< vectors of output channels of the micro-kernel
  std::int64_t lines = 1;  ///< output lines per block
  std::int64_t cc = 1;     ///< input channels per block
  std::int64_t nc = 1;     ///< tiles of output channels per block
  std::int64_t order = 0;  ///< outer loop inside a block: 0 output channels, 1 pixels
};
Conv2dNhwcSchedule conv2d_nhwc_schedule(const Config& config);

/// What follows from a convolution and a schedule; channels and filters are those of one group.
struct Conv2dNhwcShape {
  std::int64_t channels = 1, filters = 1;
  std::int64_t nr = 1;                     ///< output channels of a tile
  std::int64_t filter_tiles = 1;           ///< of a group
  std::int64_t owned_tiles = 1;            ///< of them, of one task, at most
  std::int64_t owned_lines = 1;            ///< output lines of an image, of one task, at most
  std::int64_t lines = 1, cc = 1, nc = 1;  ///< of one block
  std::int64_t lines_in = 1;               ///< input lines that a block reads
  std::int64_t width_in = 1;               ///< pixels of a padded line that are read
  bool copies = false;                     ///< padded images are copied, others are read where they are
  std::int64_t copy_elements() const { return copies ? lines_in * width_in * cc : 0; }
  std::int64_t panel_elements(const Conv2d& conv) const { return nc * nr * conv.r * conv.s * cc; }
};
Conv2dNhwcShape conv2d_nhwc_shape(const Conv2d& conv, const Conv2dNhwcSchedule& schedule);

FamilySpace conv2d_nhwc_cpu_space(const Workload& workload, const Limits& limits);
Config conv2d_nhwc_cpu_default(const Workload& workload, const Limits& limits);

}  // namespace lehr
