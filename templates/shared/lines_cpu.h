// Operations of CPU convolutions on lines of an image. Before the computation, lines are copied to padded
// scratch memory, separated by the horizontal stride. Afterwards sums by channel become lines of an nchw
// image.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/kernel.h"
#include "templates/shared/dot_form.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr::cpu {

/// The pixels of one line of an nchw image. They begin `pad` columns behind the start of a padded line.
struct Line {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0);  ///< flat index of the line's first pixel
  std::int64_t width = 1;            ///< pixels
  std::int64_t pad = 0;
  std::int64_t stride = 1;
  std::int64_t lanes = 16;
  std::int64_t phases = 1;  ///< number of leading phases that are wanted, at most `stride`
  /// The form that the elements are converted to.
  const DotForm* form = &plain_form();
  /// If given, the value that is then subtracted: one element, or `lanes` of them.
  std::function<ir::Expr(int lanes)> zero = {};
  /// Returns the flat index at which pixels p, p + stride, p + 2 stride, ... of the padded line begin, p <
  /// phases.
  std::function<ir::Expr(const ir::Expr& phase)> target;
  ir::Expr unused = ir::integer(0);  ///< `lanes` elements that may be overwritten; if phases < stride
};

/// Copies them by phase: pixel p of the padded line becomes element p / stride of target(p % stride). Only
/// those elements are written: margins stay as they are. Without pixels it copies nothing.
ir::Block copy_line(ir::KernelBuilder& builder, const Line& line);

/// Sets `elements` elements of `to` from `target` on to a value, by vectors.
ir::Stmt clear_line(ir::KernelBuilder& builder, ir::BufferId to, const ir::Expr& target,
                    std::int64_t elements, std::int64_t lanes, const ir::Expr& value = ir::zero(DType::kF32));

/// to[j to_stride + i] = from[i from_stride + j] for `rows` x `columns` elements, in blocks of lanes x lanes;
/// rows up to the next multiple of `lanes` are filled with zeros. `rows` is at most `most_rows`.
struct Transposition {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0), target = ir::integer(0);  ///< flat indices of the first elements
  std::int64_t from_stride = 1, to_stride = 1;
  ir::Expr rows = ir::integer(1), columns = ir::integer(1);
  std::int64_t most_rows = 1, most_columns = 1;
  std::int64_t lanes = 16;
  DType type = DType::kF32;  ///< or s32
};
ir::Stmt transpose(ir::KernelBuilder& builder, const Transposition& t);

/// Sums as [pixel][channel] in scratch memory, and their destination in an nchw image.
struct ChannelSums {
  ir::BufferId sums{}, lines{}, to{};  ///< `lines`: scratch memory of line_room() elements a channel
  ir::Expr source = ir::integer(0);    ///< flat index of the first sum
  std::int64_t stride = 1;             ///< elements between pixels
  ir::Expr pixels = ir::integer(1), channels = ir::integer(1);
  std::int64_t most_pixels = 1, most_channels = 1;
  std::int64_t lanes = 16;
  DType type = DType::kF32;                 ///< type of the sums: f32 or s32
  ir::Expr first_channel = ir::integer(0);  ///< channel of the image
  /// Returns the flat index of the first pixel of a channel of the image; the others follow.
  std::function<ir::Expr(const ir::Expr& channel)> target;

  /// Returns the value that is stored for a vector of sums.
  std::function<ir::Expr(ir::Expr sums, const EpiloguePlace& place)> finish;

  static std::int64_t line_room(std::int64_t most_pixels, std::int64_t lanes);
};
/// Transposes them into `lines`, then stores the finished values.
ir::Block store_by_channel(ir::KernelBuilder& builder, const ChannelSums& s);

}  // namespace lehr::cpu
