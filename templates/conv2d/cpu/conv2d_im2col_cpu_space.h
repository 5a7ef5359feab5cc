// The schedules of conv2d_im2col_cpu: the product that it is, knobs, default, and the lines that it copies.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "templates/gemm/cpu/gemm_cpu_space.h"
#include "workload/workload.h"

namespace lehr {

/// One product per image and group: nchw filters (rows) x pixels, nhwc pixels (rows) x filters; k counts the
/// input channels of a group times the filter's taps.
ProductView im2col_problem(const Conv2d& conv);

/// Output pixels whose taps lie side by side as they do: of a line, or of the whole image where one line
/// follows the other without a gap. nchw.
std::int64_t im2col_run(const Conv2d& conv, std::int64_t copy);

/// Output lines that `pixels` pixels which follow each other reach into, at most.
std::int64_t im2col_lines(const Conv2d& conv, std::int64_t pixels);

/// gemm_cpu's, and "copy".
void im2col_knobs(Knobs<GemmCpuSchedule>& k, const Workload& workload, const Limits& limits);
GemmCpuSchedule im2col_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
