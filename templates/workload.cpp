#include "templates/workload.h"

#include <fmt/format.h>

#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

constexpr std::int64_t kLimit = std::int64_t{1} << 31;  // indices are 32-bit on CUDA (ir/type.h)

void check_size(std::string_view name, std::int64_t value) {
  if (value < 1 || value >= kLimit) {
    throw_user("{}={} is out of range: sizes are whole numbers from 1 to {}", name, value, kLimit - 1);
  }
}

void check_elements(std::string_view name, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
  const double elements =
      static_cast<double>(batch) * static_cast<double>(rows) * static_cast<double>(columns);
  if (elements >= static_cast<double>(kLimit)) {
    throw_user("{} would have {:.3g} elements ({} x {} x batch {}); at most {} are supported", name, elements,
               rows, columns, batch, kLimit - 1);
  }
}

}  // namespace

void validate(const Workload& workload) {
  if (workload.conv2d) return validate(*workload.conv2d);
  const Gemm& g = workload.gemm;
  check_size("m", g.m);
  check_size("n", g.n);
  check_size("k", g.k);
  check_size("batch", g.batch);
  check_elements("A", g.batch, g.m, g.k);
  check_elements("B", g.batch, g.k, g.n);
  check_elements("C", g.batch, g.m, g.n);
  for (const DType type : {g.a.type, g.b.type, g.accum}) {
    if (g.math != Math::kStrict && type != DType::kF32)
      throw_user("math={} is for f32 operands and sums; with {} leave it at strict", name_of(g.math),
                 name_of(type));
  }
}

std::string to_text(const Operand& operand) {
  return fmt::format("{}:{}", name_of(operand.type), operand.layout == Layout::kRow ? "row" : "column");
}

std::string to_text(const Workload& workload) {
  if (workload.conv2d) return to_text(*workload.conv2d);
  const Gemm& g = workload.gemm;
  // Strict is left out, so that texts written before there was a choice keep their meaning.
  return fmt::format("gemm m={} n={} k={} batch={} a={} b={} c={} accum={} epilogue=none{}", g.m, g.n, g.k,
                     g.batch, to_text(g.a), to_text(g.b), to_text(g.c), name_of(g.accum),
                     g.math == Math::kStrict ? "" : fmt::format(" math={}", name_of(g.math)));
}

std::string_view name_of(Math math) {
  return math == Math::kStrict ? "strict" : math == Math::kTf32 ? "tf32" : "3xtf32";
}

namespace {

const std::vector<std::string>& dtype_names() {
  static const std::vector<std::string> names = {"f64", "f32", "f16",  "bf16", "s32",
                                                 "s8",  "u8",  "e4m3", "e5m2"};
  return names;
}

DType dtype_of(std::string_view text) {
  const auto type = parse_dtype(text);
  if (type && *type != DType::kU32) return *type;  // u32 is for registers
  const std::string near = closest(text, dtype_names());
  throw_user("unknown dtype '{}'{}; known are {}", text,
             near.empty() ? "" : fmt::format(" (did you mean {}?)", near), fmt::join(dtype_names(), ", "));
}

}  // namespace

Math parse_math(std::string_view text) {
  for (const Math math : {Math::kStrict, Math::kTf32, Math::k3xTf32})
    if (name_of(math) == text) return math;
  throw_user("unknown math '{}'; known are strict, tf32, 3xtf32", text);
}

Operand parse_operand(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  Operand operand;
  operand.type = dtype_of(parts[0]);
  if (parts.size() > 2) throw_user("operand '{}' has too many parts; write dtype:layout, e.g. f32:row", text);
  if (parts.size() == 2) {
    if (parts[1] == "row") {
      operand.layout = Layout::kRow;
    } else if (parts[1] == "column" || parts[1] == "col") {
      operand.layout = Layout::kColumn;
    } else {
      throw_user("unknown layout '{}' in operand '{}'; write row or column", parts[1], text);
    }
  }
  return operand;
}

namespace {

// False for an unknown key.
bool set_field(Gemm& g, std::string_view key, std::string_view value) {
  for (const auto& [name, field] : {std::pair{"m", &g.m}, {"n", &g.n}, {"k", &g.k}, {"batch", &g.batch}}) {
    if (key != name) continue;
    const auto number = parse_int(value);
    if (!number) throw_user("'{}={}' is not a whole number", key, value);
    *field = *number;
    return true;
  }
  for (const auto& [name, operand] : {std::pair{"a", &g.a}, {"b", &g.b}, {"c", &g.c}}) {
    if (key != name) continue;
    *operand = parse_operand(value);
    return true;
  }
  if (key == "accum") {
    g.accum = dtype_of(value);
  } else if (key == "math") {
    g.math = parse_math(value);
  } else {
    return false;
  }
  return true;
}

}  // namespace

Workload parse_workload(std::string_view text) {
  std::vector<std::string_view> words;
  for (const std::string_view word : split(text, ' ')) {
    if (!word.empty()) words.push_back(word);
  }
  if (words.empty() || (words[0] != "gemm" && words[0] != "conv2d"))
    throw_user("workload '{}' does not start with a known operator; known are: gemm, conv2d", text);
  Workload workload;
  if (words[0] == "conv2d") workload.conv2d.emplace();
  for (std::size_t i = 1; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (equals == std::string_view::npos)
      throw_user("'{}' in workload '{}' is not key=value", words[i], text);
    const std::string_view key = words[i].substr(0, equals);
    const std::string_view value = words[i].substr(equals + 1);
    if (key == "epilogue") {
      if (value != "none") throw_user("unknown epilogue '{}'; known is: none", value);
      continue;
    }
    const bool known =
        workload.conv2d ? set_field(*workload.conv2d, key, value) : set_field(workload.gemm, key, value);
    if (!known)
      throw_user("unknown key '{}' in workload '{}'; known are {}, epilogue", key, text,
                 workload.conv2d
                     ? "n, h, w, c, k, r, s, stride, pad, dilation, groups, layout, x, f, y, accum"
                     : "m, n, k, batch, a, b, c, accum, math");
  }
  validate(workload);
  return workload;
}

double flops_of(const Workload& workload) {
  if (const auto& conv = workload.conv2d)
    return 2.0 * static_cast<double>(conv->n * conv->k) * static_cast<double>(conv->out_h() * conv->out_w()) *
           static_cast<double>(conv->products());
  const Gemm& g = workload.gemm;
  return 2.0 * static_cast<double>(g.batch) * static_cast<double>(g.m) * static_cast<double>(g.n) *
         static_cast<double>(g.k);
}

double min_bytes_of(const Workload& workload) {
  double bytes = 0;
  for (const TensorSpec& tensor : tensors_of(workload)) {
    bytes += static_cast<double>(tensor.elements) * size_of(tensor.type);
  }
  return bytes;
}

std::vector<TensorSpec> tensors_of(const Workload& workload) {
  if (const auto& conv = workload.conv2d)
    return {{"x", conv->input, conv->n * conv->c * conv->h * conv->w, false},
            {"f", conv->filter, conv->k * conv->products(), false},
            {"y", conv->output, conv->n * conv->k * conv->out_h() * conv->out_w(), true}};
  const Gemm& g = workload.gemm;
  return {{"a", g.a.type, g.batch * g.m * g.k, false},
          {"b", g.b.type, g.batch * g.k * g.n, false},
          {"c", g.c.type, g.batch * g.m * g.n, true}};
}

}  // namespace lehr
