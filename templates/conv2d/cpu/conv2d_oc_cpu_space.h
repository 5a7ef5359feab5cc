// The schedules of conv2d_oc_cpu: knobs, rules, default, and the shapes of its scratch memory.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "space/knobs.h"
#include "templates/shared/dot_form.h"
#include "workload/workload.h"

namespace lehr {

/// The knobs; conv2d_oc_knobs() states their meanings and units.
struct Conv2dOcSchedule {
  std::int64_t threads = 1;
  /// Work that the threads divide among them. 0: output lines, 1: output channels, 2: images (one work item
  /// each).
  std::int64_t split = 0;
  std::int64_t lanes = 16;
  /// Pixels of the micro-kernel; all belong to one output line.
  std::int64_t mr = 1;
  /// Vectors of output channels of the micro-kernel, which make up a panel.
  std::int64_t nv = 1;
  /// Output lines per block.
  std::int64_t lines = 1;
  /// Input channels per block.
  std::int64_t cc = 1;
  /// 1: the input lines of a block are copied with padding, 0: they are read from the image.
  std::int64_t copy = 1;
  /// Innermost loop. 0: channels, 1: a line of the filter, unrolled.
  std::int64_t taps = 0;
  /// 1: a block of filters is prefetched while the previous block is used.
  std::int64_t prefetch = 0;
};

/// Values derived from a convolution and a schedule. Channels and filters are those of one group. Channels
/// are counted in groups of the DotForm that multiplies them, here and in the schedule. Output lines are
/// counted in strides of the pool's windows; the convolution has no pixel after the last window
/// (pooled_part()). If windows overlap, a block has additional lines for its last window, which the next
/// block computes again.
struct Conv2dOcShape {
  std::int64_t channels = 1, filters = 1;
  /// Output channels of a panel.
  std::int64_t nr = 1;
  /// Number of panels of a group.
  std::int64_t panels = 1;
  /// Maximum number of panels that one work item computes.
  std::int64_t owned_panels = 1;
  /// Maximum number of output lines of an image that one work item computes.
  std::int64_t owned_lines = 1;
  /// Output lines and input channels of one block.
  std::int64_t lines = 1, cc = 1;
  /// Output lines that a block computes.
  std::int64_t rows = 1;
  /// Distances between the lines and between the pixels of the input that a copy keeps. They are the strides
  /// if the taps read no pixels in between, else 1.
  std::int64_t step_h = 1, step_w = 1;
  /// Number of kept lines that a block reads, including lines above and below the image.
  std::int64_t lines_in = 1;
  /// Number of kept pixels in a padded line.
  std::int64_t width_in = 1;
  /// Elements of the copied lines.
  std::int64_t copy_elements = 0;
  std::int64_t group = 1;  ///< DotForm::group
  /// Number of elements of the block's sums for one panel; 0 if y holds the sums.
  std::int64_t sums_elements = 0;
  /// Number of elements of the pooled values; 0 if y or the memory of the sums holds them.
  std::int64_t pooled_elements = 0;
};
Conv2dOcShape conv2d_oc_shape(const Conv2d& conv, const Conv2dOcSchedule& schedule,
                              const PoolWindows& windows, const cpu::DotForm& form);

void conv2d_oc_knobs(Knobs<Conv2dOcSchedule>& k, const Workload& workload, const Limits& limits);
Conv2dOcSchedule conv2d_oc_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
