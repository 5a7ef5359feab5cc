// The schedules of conv2d_im2col_cpu: its product, knobs, default, and the lines that it copies.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "templates/gemm/cpu/gemm_cpu_space.h"
#include "workload/workload.h"

namespace lehr {

/// Returns the product of one image and group: filters (rows) x pixels with nchw, pixels (rows) x filters
/// with nhwc. Its k is the number of input channels of a group times the number of the filter's taps.
ProductView im2col_problem(const Conv2d& conv);

/// For nchw: returns the length of a sequence of output pixels for which each tap reads consecutive memory.
/// That is a line, or the whole image if no gap separates its lines.
std::int64_t im2col_run(const Conv2d& conv, std::int64_t copy);

/// Returns the maximum number of output lines that `pixels` consecutive pixels touch.
std::int64_t im2col_lines(const Conv2d& conv, std::int64_t pixels);

/// Adds gemm_cpu's knobs, and "copy".
void im2col_knobs(Knobs<GemmCpuSchedule>& k, const Workload& workload, const Limits& limits);
GemmCpuSchedule im2col_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
