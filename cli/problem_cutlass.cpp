// Flags as `cutlass_profiler --operation=Gemm --help` and `--operation=Conv2d --help` have them (CUTLASS,
// profiler.md).
#include "cli/problem_cutlass.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <set>
#include <span>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

struct Name {
  std::string_view flag, alias;
};
/// What says what is computed; a column of a report has the flag's name without its dashes.
constexpr Name kProduct[] = {{"m", "problem-size::m"},
                             {"n", "problem-size::n"},
                             {"k", "problem-size::k"},
                             {"A", ""},
                             {"B", ""},
                             {"C", ""},
                             {"D", ""},
                             {"alpha", "epilogue::alpha"},
                             {"beta", "epilogue::beta"},
                             {"accum", "accumulator-type"},
                             {"batch_count", "batch-count"}};
constexpr Name kConvolution[] = {{"n", "input_n"},
                                 {"h", "input_h"},
                                 {"w", "input_w"},
                                 {"c", "input_c"},
                                 {"k", "filter_k"},
                                 {"r", "filter_r"},
                                 {"s", "filter_s"},
                                 {"g", "groups"},
                                 {"pad_h", ""},
                                 {"pad_w", ""},
                                 {"stride_h", ""},
                                 {"stride_w", ""},
                                 {"dilation_h", ""},
                                 {"dilation_w", ""},
                                 {"Activation", ""},
                                 {"Filter", ""},
                                 {"Output", ""},
                                 {"conv_kind", ""},
                                 {"conv_mode", ""},
                                 {"alpha", "epilogue::alpha"},
                                 {"beta", "epilogue::beta"},
                                 {"accum", "accumulator-type"}};

using Values = std::map<std::string_view, std::string>;

Values values_of(const CutlassArguments& arguments, std::span<const Name> names, Values values) {
  std::set<std::string_view> given;
  for (const auto& [key, value] : arguments) {
    const auto named = std::ranges::find_if(names, [&key](const Name& name) {
      return key == name.flag || (!name.alias.empty() && key == name.alias);
    });
    if (named == names.end() || value.empty()) continue;
    if (!given.insert(named->flag).second) throw_user("--{} is given twice", named->flag);
    const bool tensor = std::isupper(static_cast<unsigned char>(named->flag[0])) != 0;
    if (value.find(',') != std::string::npos || (!tensor && value.find(':') != std::string::npos))
      throw_user("--{}={} is several: write a line for each", key, value);
    values[named->flag] = value;
  }
  return values;
}

struct Tensor {
  std::string type, layout;
  bool tf32 = false;
};
Tensor tensor_of(const std::string& text) {
  const std::size_t colon = text.find(':');
  Tensor tensor = {text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  if (tensor.type == "*") tensor.type = "f32";
  if (tensor.type == "fe4m3" || tensor.type == "fe5m2") tensor.type.erase(0, 1);
  if ((tensor.tf32 = tensor.type == "tf32")) tensor.type = "f32";
  if (tensor.layout == "t") tensor.layout = "row";
  if (tensor.layout == "n" || tensor.layout == "col" || tensor.layout.empty()) tensor.layout = "column";
  return tensor;
}

std::string operand(const Tensor& tensor) {
  return tensor.type + ":" + tensor.layout;
}

void refuse_beta(const Values& of) {
  if (parse_number(of.at("beta")).value_or(1) != 0)
    throw_user("--beta={} adds to what is there: C is only written here", of.at("beta"));
}

/// " accum=f32", or what these inputs are summed up in where it is not said.
std::string sums_of(const Values& of, const Tensor& input) {
  return " accum=" + (of.contains("accum") ? of.at("accum")
                                           : std::string(name_of(sums_for(parse_operand(input.type).type))));
}

Workload product_of(const CutlassArguments& arguments) {
  const Values of = values_of(arguments, kProduct,
                              {{"m", "1024"},
                               {"n", "1024"},
                               {"k", "1024"},
                               {"A", "f32:column"},
                               {"B", "f32:column"},
                               {"C", "f32:column"},
                               {"alpha", "1"},
                               {"beta", "0"},
                               {"batch_count", "1"}});
  refuse_beta(of);
  const Tensor a = tensor_of(of.at("A")), b = tensor_of(of.at("B")),
               c = tensor_of(of.contains("D") ? of.at("D") : of.at("C"));
  return parse_workload(fmt::format("gemm m={} n={} k={} batch={} alpha={} a={} b={} c={}{}{}", of.at("m"),
                                    of.at("n"), of.at("k"), of.at("batch_count"), of.at("alpha"), operand(a),
                                    operand(b), operand(c), sums_of(of, a), a.tf32 ? " math=tf32" : ""));
}

Workload convolution_of(const CutlassArguments& arguments) {
  const Values of = values_of(arguments, kConvolution,
                              {{"n", "1"},
                               {"h", "16"},
                               {"w", "16"},
                               {"c", "64"},
                               {"k", "64"},
                               {"r", "3"},
                               {"s", "3"},
                               {"g", "1"},
                               {"pad_h", "1"},
                               {"pad_w", "1"},
                               {"stride_h", "1"},
                               {"stride_w", "1"},
                               {"dilation_h", "1"},
                               {"dilation_w", "1"},
                               {"Activation", "f32:nhwc"},
                               {"Filter", "f32:nhwc"},
                               {"Output", "f32:nhwc"},
                               {"conv_kind", "fprop"},
                               {"conv_mode", "cross"},
                               {"alpha", "1"},
                               {"beta", "0"}});
  if (of.at("conv_kind") != "fprop")
    throw_user("--conv_kind={} asks for gradients: forward convolutions only, fprop", of.at("conv_kind"));
  if (of.at("conv_mode") != "cross")
    throw_user("--conv_mode={} turns the filter around: only cross-correlations are served, cross",
               of.at("conv_mode"));
  refuse_beta(of);
  if (parse_number(of.at("alpha")).value_or(0) != 1)
    throw_user("--alpha={} of a convolution is not served: write 1", of.at("alpha"));
  const Tensor x = tensor_of(of.at("Activation")), f = tensor_of(of.at("Filter")),
               y = tensor_of(of.at("Output"));
  if (f.layout != x.layout || y.layout != x.layout)
    throw_user("filters ({}) and output ({}) must have the input's layout, {}", f.layout, y.layout, x.layout);
  return parse_workload(fmt::format(
      "conv2d n={} c={} h={} w={} k={} r={} s={} pad={}x{} stride={}x{} dilation={}x{} groups={} layout={} "
      "x={} "
      "f={} y={}{}{}",
      of.at("n"), of.at("c"), of.at("h"), of.at("w"), of.at("k"), of.at("r"), of.at("s"), of.at("pad_h"),
      of.at("pad_w"), of.at("stride_h"), of.at("stride_w"), of.at("dilation_h"), of.at("dilation_w"),
      of.at("g"), x.layout, x.type, f.type, y.type, sums_of(of, x), x.tf32 ? " math=tf32" : ""));
}

/// "gemm", "conv2d", or the first name that is neither; by the operation, a kernel's name, or the sizes.
std::string operation_of(const CutlassArguments& arguments) {
  const auto value = [&](std::string_view name) {
    const auto found = std::ranges::find(arguments, name, &CutlassArguments::value_type::first);
    return found == arguments.end() ? std::string() : lower_case(found->second);
  };
  for (const char* name : {"operation", "OperationKind"})
    if (const std::string kind = value(name); kind == "gemm" || kind == "conv2d" || kind.find("conv3d") == 0)
      return kind;
  const std::string said =
      value("operation") + value("OperationKind") + value("kernels") + value("Operation");
  for (const char* other : {"conv3d", "spgemm", "grouped", "rank_k", "rank_2k", "trmm", "symm"})
    if (said.find(other) != std::string::npos) return other;
  for (const char* convolution : {"conv", "fprop", "dgrad", "wgrad"})
    if (said.find(convolution) != std::string::npos) return "conv2d";
  const bool filter = std::ranges::any_of(arguments, [](const auto& each) {
    return each.first == "r" || each.first == "filter_r" || each.first == "Activation";
  });
  return filter ? "conv2d" : "gemm";
}

}  // namespace

CutlassArguments cutlass_arguments(const std::vector<std::string_view>& words) {
  CutlassArguments arguments;
  for (const std::string_view word : words) {
    if (word == "\\") continue;  // goes on in the next line
    if (!word.starts_with("--")) throw_user("'{}' is no argument of cutlass_profiler: --name=value is", word);
    const std::size_t equals = word.find('=');
    const std::string name(word.substr(2, equals == std::string_view::npos ? equals : equals - 2));
    if (equals == std::string_view::npos) continue;  // a switch, of how it is run
    if (std::ranges::find(arguments, name, &CutlassArguments::value_type::first) != arguments.end())
      throw_user("--{} is given twice", name);
    arguments.emplace_back(name, std::string(word.substr(equals + 1)));
  }
  return arguments;
}

Workload cutlass_workload(const CutlassArguments& arguments) {
  const std::string operation = operation_of(arguments);
  if (operation == "conv2d") return convolution_of(arguments);
  if (operation != "gemm")
    throw_user("{} is none of cutlass_profiler's operations that are served: gemm, conv2d", operation);
  return product_of(arguments);
}

}  // namespace lehr
