// What CPU convolutions do to a line of an image before they compute: it is copied to padded scratch memory,
// taken apart by the horizontal stride.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/kernel.h"

namespace lehr::cpu {

/// The pixels of one line of an nchw image that lie `pad` columns behind the start of a padded line.
struct Line {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0);  ///< flat index of the line's first pixel
  std::int64_t width = 1;            ///< pixels
  std::int64_t pad = 0;
  std::int64_t stride = 1;
  std::int64_t lanes = 16;
  std::int64_t phases = 1;  ///< so many leading phases are wanted, at most `stride`
  /// Flat index of where pixels p, p + stride, p + 2 stride, ... of the padded line begin, p < phases.
  std::function<ir::Expr(std::int64_t phase)> target;
  ir::Expr unused = ir::integer(0);  ///< `lanes` elements that may be overwritten; if phases < stride
};

/// Copies them by phase: pixel p of the padded line becomes element p / stride of target(p % stride). Nothing
/// but those elements is written: margins stay as they are. No pixels, no copy.
ir::Block copy_line(ir::KernelBuilder& builder, const Line& line);

/// Sets `elements` elements of `to` from `target` on to zero, by vectors.
ir::Stmt clear_line(ir::KernelBuilder& builder, ir::BufferId to, const ir::Expr& target,
                    std::int64_t elements, std::int64_t lanes);

/// to[j to_stride + i] = from[i from_stride + j] for `rows` x `columns` elements, in blocks of lanes x lanes;
/// rows up to the next multiple of `lanes` are filled with zeros. `rows` is at most `most_rows`.
struct Transposition {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0), target = ir::integer(0);  ///< flat indices of the first elements
  std::int64_t from_stride = 1, to_stride = 1;
  ir::Expr rows = ir::integer(1), columns = ir::integer(1);
  std::int64_t most_rows = 1, most_columns = 1;
  std::int64_t lanes = 16;
};
ir::Stmt transpose(ir::KernelBuilder& builder, const Transposition& t);

}  // namespace lehr::cpu
