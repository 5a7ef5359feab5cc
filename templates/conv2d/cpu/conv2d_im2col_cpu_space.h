// The schedules of conv2d_im2col_cpu: its product, knobs, default, and the lines that it copies.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "templates/gemm/cpu/gemm_cpu_space.h"
#include "workload/workload.h"

namespace lehr {

/// Returns the product of one image and group: nchw filters (rows) x pixels, nhwc pixels (rows) x filters. k
/// counts the input channels of a group times the filter's taps.
ProductView im2col_problem(const Conv2d& conv);

/// Returns how many consecutive output pixels have consecutive taps in memory: those of a line, or of the
/// whole image if its lines follow each other without a gap. nchw.
std::int64_t im2col_run(const Conv2d& conv, std::int64_t copy);

/// Returns how many output lines `pixels` consecutive pixels touch, at most.
std::int64_t im2col_lines(const Conv2d& conv, std::int64_t pixels);

/// Adds gemm_cpu's knobs, and "copy".
void im2col_knobs(Knobs<GemmCpuSchedule>& k, const Workload& workload, const Limits& limits);
GemmCpuSchedule im2col_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
