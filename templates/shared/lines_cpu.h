// Operations of CPU convolutions on lines of an image. Before the computation, lines are copied to padded
// scratch memory, divided into phases by the horizontal stride. After it, sums ordered by channel become
// lines of an nchw image.
#pragma once

#include <cstdint>
#include <functional>

#include "ir/kernel.h"
#include "templates/shared/dot_form.h"
#include "templates/shared/epilogue_expr.h"

namespace lehr::cpu {

/// The pixels of one line of an nchw image. They begin `pad` columns after the start of the padded line.
struct Line {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0);  ///< flat index of the line's first pixel
  std::int64_t width = 1;            ///< number of pixels
  std::int64_t pad = 0;
  std::int64_t stride = 1;
  std::int64_t lanes = 16;
  std::int64_t phases = 1;  ///< number of leading phases to be copied, at most `stride`
  /// The form whose panel type the elements are converted to.
  const DotForm* form = &plain_form();
  /// If given, returns the value that is subtracted after the conversion, as `lanes` elements.
  std::function<ir::Expr(int lanes)> zero = {};
  /// Returns the flat index where phase `phase` begins, i.e. the pixels phase, phase + stride, phase + 2
  /// stride, ... of the padded line. `phase` is below `phases`.
  std::function<ir::Expr(const ir::Expr& phase)> target;
  /// Index of `lanes` elements that may be overwritten; used if phases < stride.
  ir::Expr unused = ir::integer(0);
};

/// Copies the pixels by phase: pixel p of the padded line becomes element p / stride of target(p % stride).
/// Only these elements are written; the padding stays as it is. Copies nothing if the line has no pixels.
ir::Block copy_line(ir::KernelBuilder& builder, const Line& line);

/// Sets `elements` elements of `to`, from `target` on, to `value`, in vectors.
ir::Stmt clear_line(ir::KernelBuilder& builder, ir::BufferId to, const ir::Expr& target,
                    std::int64_t elements, std::int64_t lanes, const ir::Expr& value = ir::zero(DType::kF32));

/// Transposes a matrix: to[j to_stride + i] = from[i from_stride + j] for `rows` x `columns` elements, in
/// blocks of lanes x lanes. Rows up to the next multiple of `lanes` count as zeros. `rows` is at most
/// `most_rows`.
struct Transposition {
  ir::BufferId from{}, to{};
  ir::Expr source = ir::integer(0), target = ir::integer(0);  ///< flat indices of the first elements
  std::int64_t from_stride = 1, to_stride = 1;
  ir::Expr rows = ir::integer(1), columns = ir::integer(1);
  std::int64_t most_rows = 1, most_columns = 1;
  std::int64_t lanes = 16;
  DType type = DType::kF32;  ///< f32 or s32
};
ir::Stmt transpose(ir::KernelBuilder& builder, const Transposition& t);

/// Sums laid out as [pixel][channel] in scratch memory, and their destination in an nchw image.
struct ChannelSums {
  ir::BufferId sums{}, lines{}, to{};  ///< `lines` is scratch memory of line_room() elements per channel
  ir::Expr source = ir::integer(0);    ///< flat index of the first sum
  std::int64_t stride = 1;             ///< elements between neighbouring pixels
  ir::Expr pixels = ir::integer(1), channels = ir::integer(1);
  std::int64_t most_pixels = 1, most_channels = 1;
  std::int64_t lanes = 16;
  DType type = DType::kF32;                 ///< type of the sums: f32 or s32
  ir::Expr first_channel = ir::integer(0);  ///< first channel of the sums, as a channel of the image
  /// Returns the flat index of the first pixel of a channel in the image. The other pixels follow it.
  std::function<ir::Expr(const ir::Expr& channel)> target;

  /// Returns the value to be stored for a vector of sums.
  std::function<ir::Expr(ir::Expr sums, const EpiloguePlace& place)> finish;

  static std::int64_t line_room(std::int64_t most_pixels, std::int64_t lanes);
};
/// Transposes the sums into `lines`, and then stores the finished values.
ir::Block store_by_channel(ir::KernelBuilder& builder, const ChannelSums& s);

}  // namespace lehr::cpu
