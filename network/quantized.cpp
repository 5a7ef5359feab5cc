#include "network/quantized.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>

#include "base/error.h"
#include "network/coded_weights.h"
#include "network/constants.h"
#include "network/problems.h"
#include "network/quant_params.h"
#include "network/quantized_steps.h"
#include "workload/operator.h"

namespace lehr {
namespace {

/// Maximum number of steps after the operator that are examined. Epilogues have fewer steps, since few kinds
/// of steps may occur more than once.
constexpr std::size_t kMostSteps = 16;
/// Scales count as equal if their relative difference is at most this number. The scale of an integer bias
/// should be the product of the operands' scales, but the file contains a rounded product.
constexpr double kSameScale = 1e-5;

/// A quantized operator, and the match that begins with it.
class QuantizedMatch {
 public:
  QuantizedMatch(const OpenGraph& graph, std::size_t node)
      : graph_(graph), params_reader_(graph), main_(graph.model.nodes[node]) {
    now_.nodes = {node};
    now_.value = main_.outputs[0];
  }

  FoundMatch find() {
    begin();
    std::optional<FoundMatch> best = finished(now_);
    while (now_.steps.size() <= kMostSteps && advance())
      if (auto found = finished(now_)) best = std::move(found);
    if (!best) refuse("{}", why_not_);
    return std::move(*best);
  }

  /// Returns the number of operations; 0 if not known.
  double flops() const { return channels() > 0 ? flops_of(workload_) : 0; }

 private:
  /// The part of the graph that was followed so far.
  struct State {
    std::vector<std::size_t> nodes;
    std::set<std::size_t> before;
    std::vector<QuantizedStep> steps;
    std::string_view value;
    std::optional<QuantParams> quantized;  ///< set if `value` is quantized
    bool is_new = true;                    ///< whether a step was added since the value was dequantized
  };

  std::optional<Sizes> shape(std::string_view value) const { return whole_shape(graph_.shapes.of(value)); }

  /// Reads the operator's problem, its operands, and the steps that the operator itself includes (bias,
  /// quantization of the output).
  void begin() {
    const std::string_view op = main_.op;
    const bool plain = op == "Conv" || op == "Gemm" || op == "MatMul";
    x_ = plain ? operand(0) : params_reader_.of_inputs(main_, 0, 1);
    w_ = plain ? weights() : params_reader_.of_inputs(main_, 3, op == "QLinearConv" ? 0 : -1);
    if (op == "Conv" || op == "QLinearConv")
      take(conv_problem(main_, shape(x_.value), shape_of_weights()));
    else if (op == "Gemm" || op == "QGemm")
      take(gemm_problem(main_, shape(x_.value), shape_of_weights()));
    else
      take(matmul_problem(shape(x_.value), shape_of_weights()));
    if (op == "QGemm") w_.quant_params.axis = main_.whole("transB", 0) != 0 ? 0 : 1;
    centre_weights();
    check_operands();
    set_types();
    const std::size_t bias = op == "QLinearConv" ? 8 : op == "QGemm" ? 6 : 2;
    if (op != "MatMul" && op != "QLinearMatMul" && !main_.input(bias).empty())
      take_bias(main_.input(bias), plain);
    const std::size_t output = op == "QGemm" ? 7 : 6;
    if (!plain && !main_.input(output).empty())
      code(params_reader_.read(graph_.shapes.of(main_.outputs[0]).type, main_.input(output),
                               main_.input(output + 1), 1));
  }

  QuantizedValue operand(std::size_t i) {
    auto found = params_reader_.dequantized(main_.input(i));
    if (!found) refuse("only one of its operands is quantized: the engine computes it in f32");
    now_.before.insert(*found->node);
    return std::move(*found);
  }

  QuantizedValue weights() {
    made_ = quantized_weights(graph_, main_.input(1));
    if (!made_) return operand(1);
    now_.before.insert(made_->nodes.begin(), made_->nodes.end());
    return {"", made_->quant_params, std::nullopt};
  }

  /// Replaces constant weights by new weights without zero points: each zero point is subtracted from its
  /// elements. Changes nothing if a difference does not fit s8. Differences of u8 weights often fit, since
  /// the zero points of such weights are near 128.
  void centre_weights() {
    QuantParams& quant_params = w_.quant_params;
    const bool of_u8 = quant_params.type == OnnxType::kU8;
    if (!is_8_bit(quant_params.type) || !has_fixed_weights() || (!of_u8 && quant_params.is_symmetric()))
      return;
    const Sizes sizes = *shape_of_weights();
    std::size_t inner = 1;  // number of neighbouring elements that belong to the same channel
    if (quant_params.zeros.size() > 1) {
      const std::int64_t axis =
          quant_params.axis < 0 ? quant_params.axis + std::ssize(sizes) : quant_params.axis;
      if (axis < 0 || axis >= std::ssize(sizes)) return;
      for (std::int64_t i = axis + 1; i < std::ssize(sizes); ++i)
        inner *= static_cast<std::size_t>(sizes[static_cast<std::size_t>(i)]);
    }
    std::vector<std::int64_t> wholes;
    if (made_)
      for (const char byte : made_->bytes)
        wholes.push_back(of_u8 ? static_cast<unsigned char>(byte) : static_cast<signed char>(byte));
    else
      wholes = whole_elements(graph_.model, *graph_.shapes.of(w_.value).constant);
    QuantizedWeights centred{sizes, {}, quant_params, {}};
    for (std::size_t i = 0; i < wholes.size(); ++i) {
      const std::int64_t whole = wholes[i] - quant_params.zeros[i / inner % quant_params.zeros.size()];
      if (whole < -128 || whole > 127) return;
      centred.bytes += static_cast<char>(whole);
    }
    quant_params.type = OnnxType::kS8;
    quant_params.zeros = {0};
    centred.quant_params = quant_params;
    made_ = std::move(centred);
    w_.value = "";
  }

  std::optional<Sizes> shape_of_weights() const { return made_ ? made_->shape : shape(w_.value); }
  bool has_fixed_weights() const { return made_ || graph_.shapes.of(w_.value).constant != nullptr; }

  template <typename Problem>
  void take(const ProblemOr<Problem>& known) {
    if (const auto* reason = std::get_if<std::string>(&known)) refuse("{}", *reason);
    workload_.problem = std::get<Problem>(known);
  }

  void check_operands() const {
    const bool conv = workload_.op() == Operator::kConv2d;
    const char* const second = conv ? "filter" : "B";
    if (!is_8_bit(x_.quant_params.type))
      refuse("its first operand is quantized to {}", name_of(x_.quant_params.type));
    if (!x_.quant_params.is_one()) refuse("its first operand has a scale for each channel");
    if (w_.quant_params.type != OnnxType::kS8)
      refuse("its {} is quantized to {}: families take s8", second, name_of(w_.quant_params.type));
    if (!w_.quant_params.is_symmetric()) refuse("its {} has a zero point that is not 0", second);
    if (conv && !has_fixed_weights()) refuse("its filter is no constant of the file");
    if (w_.quant_params.scales.size() == 1) return;
    const auto count = static_cast<std::size_t>(channels());
    const std::int64_t rank = static_cast<std::int64_t>(shape_of_weights()->size());
    const std::int64_t axis = w_.quant_params.axis < 0 ? w_.quant_params.axis + rank : w_.quant_params.axis;
    const std::int64_t wanted =
        conv || (main_.op != "MatMul" && main_.op != "QLinearMatMul" && main_.whole("transB", 0) != 0)
            ? 0
            : rank - 1;
    if (w_.quant_params.scales.size() != count || axis != wanted)
      refuse("its {} has other scales than one for each channel", second);
  }

  std::int64_t channels() const { return channels_of(workload_); }

  /// Returns the type of the weights. It is s7 if all elements are constants of the file from -64 to 64, else
  /// s8.
  DType second_type() const {
    if (made_)
      return std::ranges::all_of(made_->bytes,
                                 [](char byte) { return std::abs(static_cast<signed char>(byte)) <= 64; })
                 ? DType::kS7
                 : DType::kS8;
    const OnnxTensor* const tensor = graph_.shapes.of(w_.value).constant;
    if (tensor == nullptr) return DType::kS8;
    const auto [known, is_new] = graph_.small.try_emplace(tensor, false);
    if (is_new) {
      const auto wholes = wholes_of(*tensor, std::numeric_limits<std::int64_t>::max());
      known->second =
          wholes && std::ranges::all_of(*wholes, [](std::int64_t whole) { return std::abs(whole) <= 64; });
    }
    return known->second ? DType::kS7 : DType::kS8;
  }

  void set_types() {
    const DType second = second_type();
    const ZeroPoint zero = x_.quant_params.zero() == 0 ? ZeroPoint::kNone : ZeroPoint::kInput;
    if (workload_.op() == Operator::kConv2d) {
      Conv2d& conv = workload_.conv2d();
      conv.input = dtype_of(x_.quant_params);
      conv.filter = second;
      conv.accum = DType::kS32;
      conv.zero = zero;
      return;
    }
    Gemm& gemm = workload_.gemm();
    if (gemm.alpha != 1) refuse("its product is scaled");
    gemm.a.type = dtype_of(x_.quant_params);
    gemm.b.type = second;
    gemm.accum = DType::kS32;
    gemm.zero = zero;
    gemm.b.constant = has_fixed_weights();
  }

  /// Adds the bias. A bias of integers is added to the integer sums of the products if its scale is the
  /// product of the operands' scales. Any other bias becomes a step in f32 after the sums.
  void take_bias(std::string_view name, bool plain) {
    const auto sizes = shape(name);
    if (!sizes || !is_per_channel(*sizes, channels(), 1)) refuse("its bias is not one for each channel");
    if (plain && main_.number("beta", 1) != 1) refuse("its C is scaled");
    if (!plain) {
      if (graph_.shapes.of(name).type != OnnxType::kS32) refuse("its bias is not of s32");
      bias_ = name;
      return;
    }
    const auto quantized = params_reader_.dequantized(name);
    if (quantized) now_.before.insert(*quantized->node);
    if (quantized && quantized->quant_params.type == OnnxType::kS32 &&
        quantized->quant_params.is_symmetric() && has_unit_of_sums(quantized->quant_params))
      bias_ = quantized->value;
    else if (!add_bias(name, quantized))
      refuse("its bias is no constant of the file");
  }

  bool has_unit_of_sums(const QuantParams& bias) const {
    for (std::size_t i = 0; i < std::max(bias.scales.size(), w_.quant_params.scales.size()); ++i) {
      const auto of = [&](const std::vector<float>& scales) {
        return static_cast<double>(scales[scales.size() == 1 ? 0 : std::min(i, scales.size() - 1)]);
      };
      const double unit = static_cast<double>(x_.quant_params.scale()) * of(w_.quant_params.scales);
      if (std::abs(of(bias.scales) - unit) > kSameScale * unit) return false;
    }
    return true;
  }

  /// Appends a step that adds one f32 constant per channel. Returns false if the value is not such a
  /// constant.
  bool add_bias(std::string_view value, const std::optional<QuantizedValue>& quantized) {
    const OnnxTensor* const tensor = graph_.shapes.of(quantized ? quantized->value : value).constant;
    if (tensor == nullptr || element_count(*tensor) != channels() || channels() > kMostChannels) return false;
    QuantizedStep step{.kind = QuantizedStep::Kind::kBias};
    if (quantized) {
      if (tensor->type == OnnxType::kF32) return false;
      const std::vector<std::int64_t> wholes = whole_elements(graph_.model, *tensor);
      const QuantParams& quant_params = quantized->quant_params;
      if (!quant_params.is_one() && quant_params.scales.size() != wholes.size()) return false;
      for (std::size_t i = 0; i < wholes.size(); ++i)
        step.bias.push_back(
            static_cast<float>(wholes[i] - quant_params.zeros[quant_params.zeros.size() == 1 ? 0 : i]) *
            quant_params.scales[quant_params.is_one() ? 0 : i]);
    } else if (tensor->type == OnnxType::kF32) {
      step.bias = f32_elements(graph_.model, *tensor);
    } else {
      return false;
    }
    now_.steps.push_back(std::move(step));
    return true;
  }

  void code(const QuantParams& quant_params) {
    if (!is_8_bit(quant_params.type)) refuse("its output is quantized to {}", name_of(quant_params.type));
    if (!quant_params.is_one()) refuse("its output has a scale for each channel");
    using Kind = QuantizedStep::Kind;
    std::vector<QuantizedStep>& steps = now_.steps;
    // If values are quantized with equal parameters before and after a MaxPool, the first quantization can be
    // omitted: the result is the same.
    if (const std::size_t count = steps.size(); count >= 2) {
      const QuantizedStep &before = steps[count - 2], &last = steps[count - 1];
      if (last.kind == Kind::kStep && last.step.op == EpilogueOp::kMaxPool && before.kind == Kind::kCode &&
          before.quant_params == quant_params)
        steps.erase(steps.end() - 2);
    }
    steps.push_back({.kind = Kind::kCode, .quant_params = quant_params});
    now_.quantized = quant_params;
  }

  std::optional<std::size_t> only_reader() const {
    const auto readers = graph_.readers.find(now_.value);
    if (readers == graph_.readers.end() || readers->second.size() != 1) return std::nullopt;
    const std::size_t reader = readers->second[0];
    if (reader >= graph_.model.nodes.size() || graph_.taken[reader]) return std::nullopt;
    return reader;
  }

  /// Adds the next node to the match, or the next several nodes that together compute a function. Returns
  /// false if the match cannot be extended.
  bool advance() {
    try {
      return take_node() || (!now_.quantized && take_function());
    } catch (const Refused&) {
      return false;  // the steps that were found so far stay in the match
    } catch (const Error&) {
      return false;
    }
  }

  bool take_node() {
    const auto reader = only_reader();
    if (!reader) return false;
    const OnnxNode& node = graph_.model.nodes[*reader];
    if (node.outputs.empty() || node.outputs[0].empty()) return false;
    if (now_.quantized) return take_of_wholes(node, *reader);
    return take_quantize(node, *reader) || take_sum(node, *reader) || take_pool(node, *reader);
  }

  void go_on(std::vector<std::size_t> nodes, std::string_view value) {
    now_.nodes.insert(now_.nodes.end(), nodes.begin(), nodes.end());
    now_.value = value;
    now_.is_new = true;
  }

  bool take_of_wholes(const OnnxNode& node, std::size_t at) {
    if (node.op == "DequantizeLinear" && node.domain.empty()) {
      if (node.input(0) != now_.value || !(params_reader_.of_node(node, now_.value) == *now_.quantized))
        return false;
      go_on({at}, node.outputs[0]);
      now_.quantized.reset();
      now_.is_new = false;
      return true;
    }
    if (node.op == "MaxPool") {
      const QuantParams quant_params = *now_.quantized;
      if (!take_pool(node, at)) return false;
      code(quant_params);
      return true;
    }
    if (node.op != "QLinearAdd" || node.domain != "com.microsoft") return false;
    const bool first = node.input(0) == now_.value;
    if (!(params_reader_.of_inputs(node, first ? 0 : 3, 1).quant_params == *now_.quantized)) return false;
    if (!add_residual(params_reader_.of_inputs(node, first ? 3 : 0, 1))) return false;
    go_on({at}, node.outputs[0]);
    code(params_reader_.read(graph_.shapes.of(node.outputs[0]).type, node.input(6), node.input(7), 1));
    return true;
  }

  bool take_quantize(const OnnxNode& node, std::size_t at) {
    if (node.op != "QuantizeLinear" || !node.domain.empty() || node.input(0) != now_.value || !now_.is_new)
      return false;
    code(params_reader_.of_node(node, node.outputs[0]));
    go_on({at}, node.outputs[0]);
    return true;
  }

  bool add_residual(const QuantizedValue& other) {
    const auto own = shape(now_.value), added = shape(other.value);
    if (!own || !added || *own != *added || !other.quant_params.is_one() ||
        !is_8_bit(other.quant_params.type))
      return false;
    now_.steps.push_back({.kind = QuantizedStep::Kind::kResidual,
                          .residual = other.value,
                          .is_quantized = true,
                          .quant_params = other.quant_params});
    return true;
  }

  bool take_sum(const OnnxNode& node, std::size_t at) {
    if ((node.op != "Add" && node.op != "Sum") || !node.domain.empty() || node.inputs.size() != 2 ||
        node.input(0) == node.input(1))
      return false;
    const std::string_view other = node.input(node.input(0) == now_.value ? 1 : 0);
    const auto own = shape(now_.value), added = shape(other);
    if (!own || !added) return false;
    const auto quantized = params_reader_.dequantized(other);
    // A value with the shape of a bias need not be a constant: it may be a computed residual, if the output
    // has only one row or pixel.
    const bool goes_with_channels = added->size() <= own->size() &&
                                    is_per_channel(*added, channels(), channel_axis(workload_, own->size()));
    const bool is_bias = goes_with_channels && add_bias(other, quantized);
    if (!is_bias && quantized) {
      if (!add_residual(*quantized)) return false;
    } else if (!is_bias) {
      if (*own != *added || graph_.shapes.of(other).type != OnnxType::kF32) return false;
      now_.steps.push_back({.kind = QuantizedStep::Kind::kResidual, .residual = other});
    }
    if (quantized) now_.before.insert(*quantized->node);
    go_on({at}, node.outputs[0]);
    return true;
  }

  bool take_pool(const OnnxNode& node, std::size_t at) {
    if (!images_of(workload_)) return false;
    const auto step = pool_step(node, shape(now_.value), shape(node.outputs[0]));
    if (!step) return false;
    now_.steps.push_back({.step = *step});
    go_on({at}, node.outputs[0]);
    return true;
  }

  bool take_function() {
    const auto found = function_of_value(graph_.model, graph_.shapes, graph_.readers, now_.value);
    if (!found ||
        std::ranges::any_of(found->nodes, [&](std::size_t node) { return bool(graph_.taken[node]); }))
      return false;
    now_.steps.push_back({.step = found->step});
    go_on(found->nodes, found->output);
    return true;
  }

  /// Returns the match that ends in this state. Returns nullopt if the workload's epilogue cannot express the
  /// steps, or no family serves the workload with its pool.
  std::optional<FoundMatch> finished(const State& state) {
    if (!state.quantized && !state.is_new) return std::nullopt;
    try {
      FoundMatch found{workload_, {}};
      found.match.nodes = state.nodes;
      found.match.before.assign(state.before.begin(), state.before.end());
      found.match.output = state.value;
      found.match.inputs = {x_.value, w_.value};
      if (made_) found.match.made[1] = {second_type(), made_->shape, made_->bytes};
      if (x_.quant_params.zero() != 0) add_zero(x_.quant_params, found);
      add_steps({x_.quant_params, w_.quant_params, channels(), bias_}, state.steps, found);
      const DType output = state.quantized ? dtype_of(*state.quantized) : DType::kF32;
      if (workload_.op() == Operator::kConv2d)
        found.workload.conv2d().output = output;
      else
        found.workload.gemm().c.type = output;
      parse_epilogue(to_text(found.workload.epilogue));
      validate(found.workload);
      const bool pooled = shrinking_step(found.workload.epilogue) != nullptr;
      if (pooled && graph_.is_served && !graph_.is_served(found.workload)) return std::nullopt;
      return found;
    } catch (const Error& error) {
      why_not_ = error.what();
      return std::nullopt;
    }
  }

  const OpenGraph& graph_;
  const QuantParamsReader params_reader_;
  const OnnxNode& main_;
  Workload workload_;  ///< the workload, without its epilogue and the type of its output
  QuantizedValue x_, w_;
  std::optional<QuantizedWeights> made_;  ///< new weights, if the file's weights are not used as they are
  std::string_view bias_;                 ///< name of the bias that is added to the sums; "": no such bias
  State now_;
  std::string why_not_ = "its epilogue cannot be told";
};

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> ops) {
  return std::ranges::find(ops, op) != ops.end();
}

}  // namespace

bool is_quantized(const OpenGraph& graph, const OnnxNode& node) {
  if (is_one_of(node.op, {"QLinearConv", "QLinearMatMul"}) && node.domain.empty()) return true;
  if (node.op == "QGemm" && node.domain == "com.microsoft") return true;
  if (!is_one_of(node.op, {"Conv", "Gemm", "MatMul"}) || !node.domain.empty()) return false;
  return std::ranges::any_of(node.inputs, [&](std::string_view input) {
    const auto maker = graph.makers.find(input);
    return maker != graph.makers.end() && graph.model.nodes[maker->second].op == "DequantizeLinear";
  });
}

std::optional<std::variant<FoundMatch, Gap>> quantized_match(const OpenGraph& graph, std::size_t node) {
  if (!is_quantized(graph, graph.model.nodes[node])) return std::nullopt;
  QuantizedMatch match(graph, node);
  try {
    return match.find();
  } catch (const Refused& refused) {
    return Gap{refused.reason, match.flops()};
  } catch (const Error& error) {  // elements of a constant cannot be read
    return Gap{error.what(), match.flops()};
  }
}

}  // namespace lehr
