// The filters of conv2d_winograd_cpu, transformed once beforehand.
#pragma once

#include "ir/kernel.h"
#include "templates/conv2d/cpu/conv2d_winograd_cpu_space.h"
#include "templates/shared/winograd.h"

namespace lehr {

/// Writes G g G^T of each filter g in `f` to `u`, laid out as [product][panel][input channel][output channel
/// of the panel]. This is the body of Kernel::prepack.
ir::Block winograd_filters(ir::KernelBuilder& builder, const Conv2d& conv, const WinogradCpuShape& shape,
                           const Winograd& algorithm, ir::BufferId f, ir::BufferId u);

}  // namespace lehr
