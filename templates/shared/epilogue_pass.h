// The epilogue as a kernel of its own on the CPU: what a framework without fusion runs behind the product.
#pragma once

#include "base/limits.h"
#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// Reads the sums in the output, which are scaled already, and writes what the steps make of them in their
/// place (but for a gate or a pool, see with_epilogue_operands()), by the widest vectors and, from 32768
/// elements on, by all cores. Its parameters are those of `product`, the kernel before it. The
/// workload has an epilogue and is f32 throughout; the device is a CPU.
ir::Kernel lower_epilogue_pass(const Workload& workload, const Limits& limits, const ir::Kernel& product);

/// `kernel`, lowered for the workload without its epilogue, with the epilogue's operands among its
/// parameters, which it leaves alone: it can be called as the workload's own kernels are. Where pairs of
/// columns are gated or windows pooled the product, which is larger than the output, goes to a workspace,
/// from which lower_epilogue_pass() reads it.
ir::Kernel with_epilogue_operands(ir::Kernel kernel, const Workload& workload);

}  // namespace lehr
