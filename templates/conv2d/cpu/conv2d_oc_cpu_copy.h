// The copy of the input lines that a block of output lines reads in conv2d_oc_cpu. Lines are padded at their
// ends.
#pragma once

#include <cstdint>

#include "ir/kernel.h"
#include "templates/conv2d/cpu/conv2d_oc_cpu_space.h"

namespace lehr {

struct OcCopy {
  const Conv2d& conv;
  const Conv2dOcShape& shape;
  const cpu::DotForm& form;
  ir::BufferId from{}, to{};  ///< the input; the scratch memory for shape.copy_elements elements
  std::int64_t lanes = 16;
  ir::Expr image = ir::integer(0), group = ir::integer(0);
  ir::Expr line = ir::integer(0);  ///< first output line of the block
  /// The value zero as an element of the copy. It stands for pixels outside of the image.
  ir::Expr padding = ir::zero(DType::kF32);
  bool fills_lines = false;  ///< whether lines above and below the image are filled with padding, too
};

/// Fills the padding at the ends of lines. It is executed once, because copy_input() does not write there.
/// Returns an empty block if there is no such padding.
ir::Block clear_margins(ir::KernelBuilder& builder, const OcCopy& copy);

/// Copies the lines that lie in the image. Lines above and below it are filled with padding or left as they
/// are (fills_lines). If the form is not plain, channels are copied in groups, which lie side by side along
/// the lines (nchw) or in the pixels (nhwc).
ir::Stmt copy_input(ir::KernelBuilder& builder, const OcCopy& copy);

}  // namespace lehr
