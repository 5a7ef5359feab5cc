#include "workload/workload.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/overloaded.h"
#include "base/text.h"

namespace lehr {

namespace {

bool is_integer(DType type) {
  return type == DType::kS32 || type == DType::kS8 || type == DType::kU8 || type == DType::kU32;
}

std::vector<TensorSpec> tensors_of(const Gemm& g) {
  return {{"a", g.a.type, g.batch * g.m * g.k, false},
          {"b", g.b.type, g.batch * g.k * g.n, false},
          {"c", g.c.type, g.batch * g.m * g.n, true}};
}

std::vector<TensorSpec> tensors_of(const Conv2d& conv) {
  return {{"x", conv.input, conv.n * conv.c * conv.h * conv.w, false},
          {"f", conv.filter, conv.k * conv.products(), false},
          {"y", conv.output, conv.n * conv.k * conv.out_h() * conv.out_w(), true}};
}

}  // namespace

void validate(const Workload& workload) {
  std::visit([](const auto& problem) { validate(problem); }, workload.problem);
  if (workload.epilogue.empty()) return;
  if (const std::int64_t window = window_of(workload.epilogue); window > 1) {
    const Conv2d* conv = std::get_if<Conv2d>(&workload.problem);
    if (!conv || conv->out_h() < window || conv->out_w() < window)
      throw_user("epilogue={} needs a conv2d whose output has {} x {} pixels or more", to_text(workload.epilogue),
                 window, window);
  }
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  const auto output = std::ranges::find(tensors, true, &TensorSpec::output);
  for (const DType type : {accum_of(workload), output->type})
    if (is_integer(type))
      throw_user("epilogue={} needs sums and outputs that are floating-point numbers, not {}",
                 to_text(workload.epilogue), name_of(type));
  if (!is_gated(workload.epilogue)) return;
  const Gemm* gemm = std::get_if<Gemm>(&workload.problem);
  if (!gemm || gemm->n % 2 != 0 || gemm->c.layout != Layout::kRow)
    throw_user(
        "epilogue={} makes one column of two neighbours: it needs a gemm with an even n and a row-major c",
        to_text(workload.epilogue));
}

std::string to_text(const Workload& workload) {
  std::string text = std::visit([](const auto& problem) { return to_text(problem); }, workload.problem);
  text += " epilogue=" + to_text(workload.epilogue);
  // Strict is left out, so that texts written before there was a choice keep their meaning.
  if (const Math math = math_of(workload); math != Math::kStrict)
    text += fmt::format(" math={}", name_of(math));
  return text;
}

Workload parse_workload(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.empty() || (words[0] != "gemm" && words[0] != "conv2d"))
    throw_user("workload '{}' does not start with a known operator; known are: gemm, conv2d", text);
  Workload workload;
  if (words[0] == "conv2d") workload.problem = Conv2d();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos)
      throw_user("'{}' in workload '{}' is not key=value", words[i], text);
    const std::string_view key = words[i].substr(0, equals);
    const std::string_view value = words[i].substr(equals + 1);
    if (key == "epilogue") {
      workload.epilogue = parse_epilogue(value);
      continue;
    }
    const bool known =
        std::visit([&](auto& problem) { return set_field(problem, key, value); }, workload.problem);
    if (!known)
      throw_user("unknown key '{}' in workload '{}'; known are {}, epilogue", key, text,
                 workload.op() == Operator::kConv2d
                     ? "n, h, w, c, k, r, s, stride, pad, dilation, groups, layout, x, f, y, accum, math"
                     : "m, n, k, batch, a, b, c, accum, math");
  }
  validate(workload);
  return workload;
}

DType accum_of(const Workload& workload) {
  return std::visit([](const auto& problem) { return problem.accum; }, workload.problem);
}

Math math_of(const Workload& workload) {
  return std::visit([](const auto& problem) { return problem.math; }, workload.problem);
}

double flops_of(const Workload& workload) {
  return std::visit(overloaded{[](const Gemm& g) {
                                 return 2.0 * static_cast<double>(g.batch) * static_cast<double>(g.m) *
                                        static_cast<double>(g.n) * static_cast<double>(g.k);
                               },
                               [](const Conv2d& conv) {
                                 return 2.0 * static_cast<double>(conv.n * conv.k) *
                                        static_cast<double>(conv.out_h() * conv.out_w()) *
                                        static_cast<double>(conv.products());
                               }},
                    workload.problem);
}

std::int64_t output_columns(const Workload& workload) {
  return is_gated(workload.epilogue) ? workload.gemm().n / 2 : workload.gemm().n;
}

ImageSize output_size(const Workload& workload) {
  const std::int64_t window = window_of(workload.epilogue);
  return {workload.conv2d().out_h() / window, workload.conv2d().out_w() / window};
}

Conv2d pooled_part(const Workload& workload) {
  Conv2d conv = workload.conv2d();
  const std::int64_t window = window_of(workload.epilogue);
  const std::int64_t rows = conv.out_h() % window, columns = conv.out_w() % window;
  // The outputs that are left have the input that they had.
  const auto crop = [](std::int64_t& pad, std::int64_t size, std::int64_t span, std::int64_t stride, std::int64_t left_out) {
    if (left_out == 0) return;
    const std::int64_t unused = (size - span) % stride;
    pad -= unused + left_out * stride;
  };
  crop(conv.pad_bottom, conv.h + conv.pad_top + conv.pad_bottom, conv.dilation_h * (conv.r - 1) + 1, conv.stride_h, rows);
  crop(conv.pad_right, conv.w + conv.pad_left + conv.pad_right, conv.dilation_w * (conv.s - 1) + 1, conv.stride_w, columns);
  return conv;
}

double min_bytes_of(const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& tensor : tensors_of(workload)) {
    bytes += static_cast<double>(tensor.elements) * size_of(tensor.type);
  }
  return bytes;
}

std::vector<TensorSpec> tensors_of(const Workload& workload) {
  std::vector<TensorSpec> tensors =
      std::visit([](const auto& problem) { return tensors_of(problem); }, workload.problem);
  if (is_gated(workload.epilogue)) tensors.back().elements /= 2;
  if (window_of(workload.epilogue) > 1) {
    const ImageSize size = output_size(workload);
    tensors.back().elements = workload.conv2d().n * workload.conv2d().k * size.height * size.width;
  }
  const TensorSpec output = tensors.back();
  const std::int64_t channels = workload.op() == Operator::kGemm ? workload.gemm().n : workload.conv2d().k;
  for (const EpilogueOperand& operand : operands_of(workload.epilogue))
    tensors.push_back(
        {std::string(operand.name), output.type, operand.per_channel ? channels : output.elements, false});
  return tensors;
}

}  // namespace lehr
