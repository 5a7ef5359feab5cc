// The shapes of what the engine's own operators compute: ONNX Runtime's InvokeOp fills outputs whose memory
// is there already, and does not look whether it is enough.
#pragma once

#include "plugin/plan.h"

namespace lehr::onnxruntime {

/// How a window lies along one dimension.
struct Window {
  std::int64_t kernel = 1, stride = 1, dilation = 1, before = 0, after = 0;
  std::int64_t reach() const { return dilation * (kernel - 1) + 1; }
};

/// That of a pool along dimension `dimension` of its images, 2 or more, of a shape that output_shape() has
/// served: what it pads by itself is in `before` and `after`.
bool pool_window(const Plan& plan, const PlanNode& node, const Shape& image, std::size_t dimension,
                 Window& window, lehr_error& error);

/// The shape of a node's first output for inputs of these shapes, of which there are node.operands; nullptr:
/// left out, or a single number. False with a sentence for an operator that is not known here, and for
/// inputs that it does not take.
bool output_shape(const Plan& plan, const PlanNode& node, const Shape* const* inputs, Shape& output,
                  lehr_error& error);

/// Shapes of everything that the plan's nodes compute, from those of the fused node's inputs, which are the
/// first of `shapes`. False with a sentence.
bool all_shapes(const Plan& plan, const Shape* inputs, Array<Shape>& shapes, lehr_error& error);

}  // namespace lehr::onnxruntime
