// The schedules of conv2d_im2col_cpu: the product that it is, knobs, default, and the lines that it copies.
#pragma once

#include <cstdint>

#include "base/limits.h"
#include "space/space.h"
#include "templates/gemm_cpu_space.h"
#include "workload/workload.h"

namespace lehr {

/// One product per image and group: nchw filters (rows) x pixels, nhwc pixels (rows) x filters; k counts the
/// input channels of a group times the filter's taps.
cpu::Problem im2col_problem(const Conv2d& conv);

struct Im2colSchedule {
  GemmCpuSchedule gemm;
  /// nchw, 1: the lines that a block of pixels reads are copied first, as padded planes (planes_cpu.h); 0:
  /// they are read where they are.
  std::int64_t copy = 0;
};
Im2colSchedule im2col_schedule(const Config& config);

/// Output pixels whose taps lie side by side as they do: of a line, or of the whole image where one line
/// follows the other without a gap. nchw.
std::int64_t im2col_run(const Conv2d& conv, std::int64_t copy);

/// Output lines that `pixels` pixels which follow each other reach into, at most.
std::int64_t im2col_lines(const Conv2d& conv, std::int64_t pixels);

FamilySpace conv2d_im2col_cpu_space(const Workload& workload, const Limits& limits);
Config conv2d_im2col_cpu_default(const Workload& workload, const Limits& limits);

}  // namespace lehr
