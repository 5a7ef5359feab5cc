// Reads the flags of "cutlass_profiler --operation=Gemm --help" and "--operation=Conv2d --help" (CUTLASS,
// profiler.md). The columns of a report have the flags' names without dashes.
#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "problems/notations.h"

namespace lehr {
namespace {

constexpr Key kGemm[] = {{"m", "m problem-size::m", "1024"},
                         {"n", "n problem-size::n", "1024"},
                         {"k", "k problem-size::k", "1024"},
                         {"a", "A", "f32"},
                         {"b", "B", "f32"},
                         {"c", "C", "f32"},
                         {"c", "D"},
                         {"alpha", "alpha epilogue::alpha", "1"},
                         {"accum", "accum accumulator-type"},
                         {"batch", "batch_count batch-count", "1"},
                         {"a_layout", "", "column"},
                         {"b_layout", "", "column"},
                         {"c_layout", "", "column"}};

constexpr Key kConv[] = {{"n", "n input_n", "1"},           {"h", "h input_h", "16"},
                         {"w", "w input_w", "16"},          {"c", "c input_c", "64"},
                         {"k", "k filter_k", "64"},         {"r", "r filter_r", "3"},
                         {"s", "s filter_s", "3"},          {"groups", "g groups", "1"},
                         {"pad_h", "pad_h", "1"},           {"pad_w", "pad_w", "1"},
                         {"stride_h", "stride_h", "1"},     {"stride_w", "stride_w", "1"},
                         {"dilation_h", "dilation_h", "1"}, {"dilation_w", "dilation_w", "1"},
                         {"x", "Activation", "f32:nhwc"},   {"f", "Filter", "f32:nhwc"},
                         {"y", "Output", "f32:nhwc"},       {"accum", "accum accumulator-type"}};

constexpr Limit kBeta = {"beta epilogue::beta", "0", "adds to what is there: C is only written here"};
constexpr Limit kOperation = {"operation OperationKind kernels Operation"};
constexpr Limit kGemmLimits[] = {kBeta, kOperation};
constexpr Limit kConvLimits[] = {
    {"conv_kind", "fprop", "asks for gradients: forward convolutions only, fprop"},
    {"conv_mode", "cross", "turns the filter around: only cross-correlations are served, cross"},
    {"alpha epilogue::alpha", "1", "of a convolution is not served: write 1"},
    kBeta,
    kOperation};

/// Returns "gemm", "conv2d", or the name of another operation. It is taken from the operation's or the
/// kernel's name, or, if both are missing, from the sizes that are given.
std::string_view operation_of(const GivenValues& arguments) {
  static constexpr std::string_view kOthers[] = {"conv3d",  "spgemm", "grouped", "rank_k",
                                                 "rank_2k", "trmm",   "symm"};
  static constexpr std::string_view kConvolutions[] = {"conv", "fprop", "dgrad", "wgrad"};
  for (const char* name : {"operation", "OperationKind", "kernels", "Operation"}) {
    const auto found = std::ranges::find(arguments, name, &GivenValue::name);
    if (found == arguments.end()) continue;
    const std::string reported = lower_case(found->value);
    const auto is_in = [&reported](std::string_view part) {
      return reported.find(part) != std::string::npos;
    };
    if (reported == "gemm") return "gemm";
    if (const auto other = std::ranges::find_if(kOthers, is_in); other != std::end(kOthers)) return *other;
    if (std::ranges::any_of(kConvolutions, is_in)) return "conv2d";
  }
  const auto is_filter = [](const GivenValue& each) {
    return each.name == "r" || each.name == "filter_r" || each.name == "Activation";
  };
  return std::ranges::any_of(arguments, is_filter) ? "conv2d" : "gemm";
}

}  // namespace

GivenValues cutlass_arguments(Words words) {
  std::vector<std::string_view> others;
  GivenValues arguments = options_of(words, others);
  // Switches and backslashes are ignored: switches only affect how the problem is run, and a backslash joins
  // lines.
  for (const std::string_view other : others)
    if (!other.starts_with("--") && other != "\\")
      throw_user("'{}' is no argument of cutlass_profiler: --name=value is", other);
  return arguments;
}

Workload cutlass_workload(const GivenValues& arguments) {
  const std::string_view operation = operation_of(arguments);
  if (operation == "gemm") return workload_of("gemm", read_keys({kGemm, kGemmLimits}, arguments));
  if (operation == "conv2d") return workload_of("conv2d", read_keys({kConv, kConvLimits}, arguments));
  throw_user("{} is none of cutlass_profiler's operations that are served: gemm, conv2d", operation);
}

}  // namespace lehr
