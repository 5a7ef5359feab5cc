#include "measure/vendor/onednn/onednn_rowwise.h"

#include <algorithm>
#include <optional>
#include <string>

#include "base/error.h"
#include "measure/vendor/row_function.h"

namespace lehr::onednn {
namespace {

using Kind = RowFunction::Kind;

/// An elementwise function of the library: for an operator of a row expression or, with kStep, for an
/// epilogue step.
struct Known {
  RowOp op{};
  EpilogueOp step{};
  Eltwise eltwise;
};
constexpr EpilogueOp kNoStep = EpilogueStep().op;
constexpr RowOp kStep = RowOp::kStep;
constexpr Known kKnown[] = {{RowOp::kExp, kNoStep, {0xbf, 0x2a}},
                            {RowOp::kLog, kNoStep, {0xef, 0x2d}},
                            {RowOp::kSqrt, kNoStep, {0x6f, 0x25}},
                            {RowOp::kAbs, kNoStep, {0x5f, 0x24}},
                            {kStep, EpilogueOp::kRelu, {0x1f, kRelu}},
                            {kStep, EpilogueOp::kLeakyRelu, {0x1f, kRelu}},
                            {kStep, EpilogueOp::kRelu6, {0xff, kClip, 0, 6}},
                            {kStep, EpilogueOp::kClamp, {0xff, kClip}},
                            {kStep, EpilogueOp::kTanh, {0x2f, 0x21}},
                            {kStep, EpilogueOp::kSigmoid, {0xaf, 0x29}},
                            {kStep, EpilogueOp::kSilu, {0xdf, 0x2c, 1}},
                            {kStep, EpilogueOp::kGeluTanh, {0xcf, 0x2b}},
                            {kStep, EpilogueOp::kGeluErf, {0x30, 0x31}},
                            {kStep, EpilogueOp::kHardSwish, {0x70, 0x34, 1.0F / 6, 0.5F}}};

/// Returns the library's function for `of`; nullopt if the library has no such function.
std::optional<Eltwise> eltwise_of(const RowFunction& of) {
  const auto known = std::ranges::find_if(
      kKnown, [&](const Known& each) { return each.op == of.op && each.step == of.step.op; });
  if (known == std::end(kKnown)) return std::nullopt;
  Eltwise result = known->eltwise;
  if (row_of(of.step.op).numbers.most > 0) {
    result.alpha = of.step.numbers[0];
    result.beta = of.step.numbers[1];
  }
  return result;
}

/// Returns the function that the whole expression computes on a matrix; nullopt if the library is not called
/// for the expression.
std::optional<RowFunction> whole_function(const Rowwise& rowwise) {
  const RowExpression expression = expression_of(rowwise);
  if (rowwise.out.size() != 1 || !rowwise.out[0].varies) return std::nullopt;
  const std::optional<RowFunction> found = row_function(rowwise, expression, expression.outputs[0]);
  if (!found || found->kind == Kind::kRmsNorm) return std::nullopt;
  const auto input = [&](int node) -> const RowTensor* {
    const RowNode& of = expression.nodes[static_cast<std::size_t>(node)];
    return of.op == RowOp::kInput ? &rowwise.in[static_cast<std::size_t>(of.input)] : nullptr;
  };
  const RowTensor* const of = input(found->of);
  if (of == nullptr || !of->varies || of->line != RowTensor::Line::kRow) return std::nullopt;
  for (const int vector : {found->scale, found->shift})
    if (vector >= 0 && input(vector)->type != DType::kF32) return std::nullopt;
  if (found->kind == Kind::kElement && !eltwise_of(*found)) return std::nullopt;
  return found;
}

}  // namespace

void require_rowwise(const Rowwise& rowwise) {
  if (!whole_function(rowwise))
    throw_user(
        "onednn has no primitive that computes this expression: it is asked for softmax and its logarithm, "
        "for layer normalization with a scale and a shift of f32, and for single functions of elements");
}

std::vector<Algorithm> rowwise_algorithms(const std::shared_ptr<Primitives>& primitives,
                                          const Rowwise& rowwise, std::span<void* const> pointers) {
  const RowFunction of = whole_function(rowwise).value();
  const RowExpression expression = expression_of(rowwise);
  const auto number = [&](int node) {
    return static_cast<std::size_t>(expression.nodes[static_cast<std::size_t>(node)].input);
  };
  const auto matrix = [&](DType type) {
    return primitives->strided(type, {rows_of(rowwise), rowwise.n}, {rowwise.n, 1});
  };
  const Tensor src = {matrix(rowwise.in[number(of.of)].type), pointers[number(of.of)]};
  const Tensor dst = {matrix(rowwise.out[0].type), pointers[rowwise.in.size()]};
  const auto vector = [&](int node) {
    return node < 0 ? Tensor()
                    : Tensor{primitives->strided(DType::kF32, {rowwise.n}, {1}), pointers[number(node)]};
  };
  const Extras extras = {.norm_scale = vector(of.scale), .norm_shift = vector(of.shift)};
  std::vector<Algorithm> algorithms;
  const auto add = [&](const std::string& name, const Primitive& primitive) {
    add_algorithm(algorithms, primitives, name, primitive, src, {}, dst, extras);
  };
  if (of.kind == Kind::kElement)
    add("eltwise", primitives->eltwise(src.desc, dst.desc, eltwise_of(of).value()));
  else if (of.kind == Kind::kLayerNorm)
    add("layer normalization",
        primitives->layer_normalization(src.desc, dst.desc, of.epsilon, of.scale >= 0, of.shift >= 0));
  else if (of.kind == Kind::kSoftmax)
    add("softmax", primitives->softmax(src.desc, dst.desc, kSoftmax));
  else
    add("logsoftmax", primitives->softmax(src.desc, dst.desc, kLogSoftmax));
  return algorithms;
}

}  // namespace lehr::onednn
