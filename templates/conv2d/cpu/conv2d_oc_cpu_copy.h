// conv2d_oc_cpu's copy of the input lines that a block of output lines reads, padded at their ends.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "templates/conv2d/cpu/conv2d_oc_cpu_space.h"

namespace lehr {

struct OcCopy {
  const Conv2d& conv;
  const Conv2dOcShape& shape;
  const cpu::DotForm& form;
  ir::BufferId from{}, to{};  ///< the input; scratch memory of shape.copy_elements
  std::int64_t lanes = 16;
  ir::Expr image = ir::integer(0), group = ir::integer(0);
  ir::Expr line = ir::integer(0);  ///< the block's first output line
  /// Pixels outside of the image count as this element of the copy, of value zero.
  ir::Expr padding = ir::zero(DType::kF32);
  bool fills_lines = false;  ///< whether lines above and below the image are filled too
};

/// Fills the lines' ends, once and for all: copy_input() writes nothing there. Empty if there are no ends.
ir::Block clear_margins(ir::KernelBuilder& builder, const OcCopy& copy);

/// Copies the lines that lie in the image. Those above and below it are left as they are, or filled. A form
/// that is not plain has groups of channels, side by side along the lines (nchw) or in the pixels (nhwc).
ir::Stmt copy_input(ir::KernelBuilder& builder, const OcCopy& copy);

}  // namespace lehr
