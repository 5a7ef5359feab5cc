// The epilogue as a kernel of its own on the CPU, as a framework without fusion runs it after the product.
#pragma once

#include "base/limits.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// Lowers a kernel that reads the sums in the output, which are scaled already, and replaces them by the
/// results of the steps (except for a gate or a pool, see with_epilogue_operands()). It uses the widest
/// vectors and, from 32768 elements on, all cores. Its parameters are those of `product`, the kernel before
/// it. The workload has an epilogue and is f32 throughout; the device is a CPU.
ir::Kernel lower_epilogue_pass(const Workload& workload, const Limits& limits, const ir::Kernel& product);

/// Returns `kernel`, lowered for the workload without its epilogue, with the epilogue's operands as
/// additional, unused parameters: it can be called like the workload's own kernels. If pairs of columns are
/// gated or windows pooled, the product is larger than the output. It then goes to a workspace, from which
/// lower_epilogue_pass() reads it.
ir::Kernel with_epilogue_operands(ir::Kernel kernel, const Workload& workload);

}  // namespace lehr
