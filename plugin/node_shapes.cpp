#include "plugin/node_shapes.h"

#include <algorithm>

#include "runtime/message.h"

namespace lehr::onnxruntime {
namespace {

// No tensor of a model that fits into memory has a larger dimension; sums and products of two stay numbers.
constexpr std::int64_t kMostDimension = std::int64_t{1} << 31;

/// One node; functions return false with the error set.
class NodeShape {
 public:
  NodeShape(const Plan& plan, const PlanNode& node, const Shape* const* inputs, Shape& output,
            lehr_error& error)
      : plan_(plan), node_(node), inputs_(inputs), output_(output), error_(error) {}

  bool compute();
  /// pool_window().
  bool padded_window(const Shape& image, std::size_t dimension, Window& along) {
    std::int64_t count = 0;
    const std::int64_t size = image.dims[dimension];
    if (!window(image.rank - 2, dimension - 2, 0, along) || !places(size, along, count)) return false;
    const std::string_view pad = plan_.text_of(node_, "auto_pad", "NOTSET");
    if (pad == "VALID") along.before = along.after = 0;
    if (!pad.starts_with("SAME")) return true;
    const std::int64_t all = std::max<std::int64_t>(0, (count - 1) * along.stride + along.reach() - size);
    along.before = pad == "SAME_LOWER" ? all - all / 2 : all / 2;
    along.after = all - along.before;
    return true;
  }

 private:
  using Function = bool (NodeShape::*)();
  struct Named {
    std::string_view op;
    Function function;
  };
  static const Named kFunctions[];

  bool bad(const char* what) {
    runtime::fail(&error_, LEHR_BAD_ARGUMENT, "%s %s", node_.op, what);
    return false;
  }
  const Shape* input(std::uint32_t i) const { return i < node_.operands ? inputs_[i] : nullptr; }
  bool has_attribute(std::string_view name) const {
    for (std::uint32_t i = 0; i < node_.attributes; ++i)
      if (plan_.attributes[node_.first_attribute + i].name == name) return true;
    return false;
  }

  bool same() {
    if (input(0) == nullptr) return bad("has no input");
    output_ = *input(0);
    return true;
  }

  bool broadcast() { return broadcast_of(1); }
  bool qlinear_broadcast() { return broadcast_of(3); }
  bool broadcast_of(std::uint32_t other) {
    output_ = {};
    for (const std::uint32_t i : {0U, other}) {
      const Shape* const one = input(i);
      if (one == nullptr) continue;
      Shape both;
      both.rank = std::max(output_.rank, one->rank);
      for (std::size_t d = 0; d < both.rank; ++d) {
        const std::int64_t a = from_behind(output_, d), b = from_behind(*one, d);
        if (a != b && a != 1 && b != 1) return bad("has inputs of shapes that do not go together");
        both.dims[both.rank - 1 - d] = a == 1 ? b : a;
      }
      output_ = both;
    }
    return true;
  }
  static std::int64_t from_behind(const Shape& shape, std::size_t d) {
    return d < shape.rank ? shape.dims[shape.rank - 1 - d] : 1;
  }

  /// One of `count` values of a list that has, where it is said, so many.
  bool element(const char* name, std::size_t count, std::size_t i, std::int64_t& value) {
    std::size_t said = 0;
    const std::int64_t* const values = plan_.ints_of(node_, name, said);
    if (values == nullptr) return true;
    if (said != count) return bad("has an attribute for another number of dimensions");
    value = values[i];
    return value >= 0 && value < kMostDimension ? true
                                                : bad("has an attribute that is negative or too large");
  }

  bool window(std::size_t spatial, std::size_t i, std::int64_t kernel, Window& window) {
    window.kernel = kernel;
    if (!element("kernel_shape", spatial, i, window.kernel) ||
        !element("strides", spatial, i, window.stride) ||
        !element("dilations", spatial, i, window.dilation) ||
        !element("pads", 2 * spatial, i, window.before) ||
        !element("pads", 2 * spatial, spatial + i, window.after))
      return false;
    if (kernel > 0 && window.kernel != kernel) return bad("has a kernel_shape that is not its filter's");
    if (window.kernel < 1 || window.stride < 1 || window.dilation < 1) return bad("has a window of no size");
    return true;
  }

  // Where a last window that is not whole counts, versions of the engine differ in whether it may begin
  // behind the image: such a shape is left to the model that has been there before.
  bool places(std::int64_t size, const Window& window, std::int64_t& count) {
    const std::string_view pad = plan_.text_of(node_, "auto_pad", "NOTSET");
    if (pad == "SAME_UPPER" || pad == "SAME_LOWER") {
      count = (size + window.stride - 1) / window.stride;
      return true;
    }
    if (pad != "NOTSET" && pad != "VALID" && !pad.empty()) return bad("has an unknown auto_pad");
    const bool valid = pad == "VALID";
    const std::int64_t before = valid ? 0 : window.before, after = valid ? 0 : window.after;
    const std::int64_t free = size + before + after - window.reach();
    if (free < 0) return bad("has a window that is larger than its image");
    count = free / window.stride + 1;
    if (plan_.int_of(node_, "ceil_mode", 0) == 0 || free % window.stride == 0) return true;
    if (count * window.stride >= size + before)
      return bad("has, with ceil_mode, a window that would begin behind its image");
    ++count;
    return true;
  }

  bool is_image(const Shape* image) {
    if (image == nullptr || image->rank < 3) return bad("has an input that is no batch of images");
    output_ = *image;
    return is_small(*image);
  }
  bool is_small(const Shape& shape) {
    for (std::size_t i = 0; i < shape.rank; ++i)
      if (shape.dims[i] > kMostDimension) return bad("has an input that is too large");
    return true;
  }
  bool group(std::int64_t& group) {
    group = plan_.int_of(node_, "group", 1);
    return (group >= 1 && group < kMostDimension) || bad("has a group that is negative or too large");
  }

  bool conv() { return conv_of(1); }
  bool qlinear_conv() { return conv_of(3); }
  bool conv_of(std::uint32_t filter_input) {
    const Shape *const image = input(0), *const filter = input(filter_input);
    if (!is_image(image)) return false;
    if (filter == nullptr || filter->rank != image->rank) return bad("has a filter of another rank");
    std::int64_t groups = 1;
    if (!is_small(*filter) || !group(groups)) return false;
    if (image->dims[1] != filter->dims[1] * groups) return bad("has a filter for another number of channels");
    output_.dims[1] = filter->dims[0];
    for (std::size_t i = 2; i < image->rank; ++i) {
      Window along;
      if (!window(image->rank - 2, i - 2, filter->dims[i], along) ||
          !places(image->dims[i], along, output_.dims[i]))
        return false;
    }
    return true;
  }

  bool conv_transpose() {
    const Shape *const image = input(0), *const filter = input(1);
    if (!is_image(image)) return false;
    if (filter == nullptr || filter->rank != image->rank || filter->dims[0] != image->dims[1])
      return bad("has a filter for other images");
    if (has_attribute("output_shape") || plan_.text_of(node_, "auto_pad", "NOTSET") != "NOTSET")
      return bad("pads by itself, which this plug-in does not follow");
    std::int64_t groups = 1;
    if (!is_small(*filter) || !group(groups)) return false;
    output_.dims[1] = filter->dims[1] * groups;
    const std::size_t spatial = image->rank - 2;
    for (std::size_t i = 0; i < spatial; ++i) {
      Window along;
      std::int64_t more = 0;
      if (!window(spatial, i, filter->dims[i + 2], along) || !element("output_padding", spatial, i, more))
        return false;
      output_.dims[i + 2] =
          along.stride * (image->dims[i + 2] - 1) + more + along.reach() - along.before - along.after;
      if (output_.dims[i + 2] < 1) return bad("leaves nothing of its image");
    }
    return true;
  }

  bool pool() {
    const Shape* const image = input(0);
    if (!is_image(image)) return false;
    for (std::size_t i = 2; i < image->rank; ++i) {
      Window along;
      if (!window(image->rank - 2, i - 2, 0, along) || !places(image->dims[i], along, output_.dims[i]))
        return false;
    }
    return true;
  }

  bool global_pool() {
    if (!is_image(input(0))) return false;
    for (std::size_t i = 2; i < output_.rank; ++i) output_.dims[i] = 1;
    return true;
  }

  bool gemm() { return gemm_of(1); }
  bool qgemm() { return gemm_of(3); }
  bool gemm_of(std::uint32_t b_input) {
    const Shape *const a = input(0), *const b = input(b_input);
    if (a == nullptr || b == nullptr || a->rank != 2 || b->rank != 2)
      return bad("has inputs that are no matrices");
    const bool a_turned = plan_.int_of(node_, "transA", 0) != 0,
               b_turned = plan_.int_of(node_, "transB", 0) != 0;
    if (a->dims[a_turned ? 0 : 1] != b->dims[b_turned ? 1 : 0])
      return bad("has matrices that do not go together");
    output_.rank = 2;
    output_.dims[0] = a->dims[a_turned ? 1 : 0];
    output_.dims[1] = b->dims[b_turned ? 0 : 1];
    return true;
  }

  bool matmul() { return matmul_of(1); }
  bool qlinear_matmul() { return matmul_of(3); }
  bool matmul_of(std::uint32_t b_input) {
    const Shape *const a = input(0), *const b = input(b_input);
    if (a == nullptr || b == nullptr || a->rank < 2 || b->rank < 2)
      return bad("has inputs that are no matrices");
    if (a->dims[a->rank - 1] != b->dims[b->rank - 2]) return bad("has matrices that do not go together");
    output_ = {};
    output_.rank = std::max(a->rank, b->rank);
    for (std::size_t d = 2; d < output_.rank; ++d) {
      const std::int64_t one = from_behind(*a, d), other = from_behind(*b, d);
      if (one != other && one != 1 && other != 1) return bad("has batches that do not go together");
      output_.dims[output_.rank - 1 - d] = one == 1 ? other : one;
    }
    output_.dims[output_.rank - 2] = a->dims[a->rank - 2];
    output_.dims[output_.rank - 1] = b->dims[b->rank - 1];
    return true;
  }

  const Plan& plan_;
  const PlanNode& node_;
  const Shape* const* inputs_;
  Shape& output_;
  lehr_error& error_;
};

// Only what the engine computes rightly when it is asked for with CreateOp and InvokeOp (ONNX Runtime 1.18 to
// 1.32): those with any number of inputs (Min, Max, Sum) look at the first one alone, Identity crashes, and
// Mish and HardSwish have no kernel of their own (who writes the plan takes HardSwish apart).
const NodeShape::Named NodeShape::kFunctions[] = {
    {"Conv", &NodeShape::conv},
    {"FusedConv", &NodeShape::conv},
    {"ConvTranspose", &NodeShape::conv_transpose},
    {"MaxPool", &NodeShape::pool},
    {"AveragePool", &NodeShape::pool},
    {"LpPool", &NodeShape::pool},
    {"GlobalMaxPool", &NodeShape::global_pool},
    {"GlobalAveragePool", &NodeShape::global_pool},
    {"Gemm", &NodeShape::gemm},
    {"MatMul", &NodeShape::matmul},
    {"QLinearConv", &NodeShape::qlinear_conv},
    {"QLinearMatMul", &NodeShape::qlinear_matmul},
    {"QGemm", &NodeShape::qgemm},
    {"QLinearAdd", &NodeShape::qlinear_broadcast},
    {"QuantizeLinear", &NodeShape::same},
    {"DequantizeLinear", &NodeShape::same},
    {"Cast", &NodeShape::same},
    {"Add", &NodeShape::broadcast},
    {"Sub", &NodeShape::broadcast},
    {"Mul", &NodeShape::broadcast},
    {"Div", &NodeShape::broadcast},
    {"Pow", &NodeShape::broadcast},
    {"PRelu", &NodeShape::same},
    {"BatchNormalization", &NodeShape::same},
    {"LayerNormalization", &NodeShape::same},
    {"Relu", &NodeShape::same},
    {"LeakyRelu", &NodeShape::same},
    {"ThresholdedRelu", &NodeShape::same},
    {"Clip", &NodeShape::same},
    {"Elu", &NodeShape::same},
    {"Selu", &NodeShape::same},
    {"Celu", &NodeShape::same},
    {"Sigmoid", &NodeShape::same},
    {"HardSigmoid", &NodeShape::same},
    {"QuickGelu", &NodeShape::same},
    {"Gelu", &NodeShape::same},
    {"FastGelu", &NodeShape::same},
    {"Tanh", &NodeShape::same},
    {"Erf", &NodeShape::same},
    {"Exp", &NodeShape::same},
    {"Log", &NodeShape::same},
    {"Sqrt", &NodeShape::same},
    {"Reciprocal", &NodeShape::same},
    {"Abs", &NodeShape::same},
    {"Neg", &NodeShape::same},
    {"Softplus", &NodeShape::same},
    {"Softsign", &NodeShape::same},
};

bool NodeShape::compute() {
  const std::string_view op = node_.op;
  for (const auto& [name, function] : kFunctions)
    if (name == op) return (this->*function)();
  runtime::fail(&error_, LEHR_NO_KERNEL, "the shape that %s computes is not known to this plug-in", node_.op);
  return false;
}

}  // namespace

bool output_shape(const Plan& plan, const PlanNode& node, const Shape* const* inputs, Shape& output,
                  lehr_error& error) {
  return NodeShape(plan, node, inputs, output, error).compute();
}

bool pool_window(const Plan& plan, const PlanNode& node, const Shape& image, std::size_t dimension,
                 Window& window, lehr_error& error) {
  Shape none;
  return NodeShape(plan, node, nullptr, none, error).padded_window(image, dimension, window);
}

bool all_shapes(const Plan& plan, const Shape* inputs, Array<Shape>& shapes, lehr_error& error) {
  const std::size_t count = plan.shapes.size();
  if (!shapes.resize(count + plan.nodes.size())) {
    runtime::fail(&error, LEHR_NO_MEMORY, "there is no memory for shapes");
    return false;
  }
  std::copy(inputs, inputs + count, shapes.data());
  for (std::size_t j = 0; j < plan.nodes.size(); ++j) {
    const PlanNode& node = plan.nodes[j];
    const Shape* taken[Plan::kMostInputs] = {};
    for (std::uint32_t i = 0; i < node.operands; ++i) {
      const PlanOperand& operand = plan.operands[node.first_operand + i];
      if (operand.kind == PlanOperand::Kind::kValue) taken[i] = &shapes[operand.index];
      if (operand.kind == PlanOperand::Kind::kConstant) taken[i] = &plan.constants[operand.index].shape;
    }
    Shape& output = shapes[count + j];
    if (!output_shape(plan, node, taken, output, error)) return false;
    if (output.bytes(node.makes) >= 0) continue;
    runtime::fail(&error, LEHR_BAD_ARGUMENT, "%s would compute too many elements", node.op);
    return false;
  }
  return true;
}

}  // namespace lehr::onnxruntime
