#include "plugin/defaults.h"

#include <algorithm>

namespace lehr::onnxruntime {
namespace {

struct Default {
  std::string_view op;
  std::string_view name;
  OrtOpAttrType type;
  float number;
  std::string_view text = {};
};

constexpr OrtOpAttrType kInt = OrtOpAttrType::kInt, kFloat = OrtOpAttrType::kFloat,
                        kString = OrtOpAttrType::kString;

// From the operators' pages, https://onnx.ai/onnx/operators, of the versions since opset 7; com.microsoft's
// from docs/ContribOperators.md of github.com/microsoft/onnxruntime. Attributes that only later versions
// have are not looked at by earlier ones.
constexpr Default kDefaults[] = {
    {"Conv", "auto_pad", kString, 0, "NOTSET"},
    {"Conv", "group", kInt, 1},
    {"FusedConv", "auto_pad", kString, 0, "NOTSET"},
    {"FusedConv", "group", kInt, 1},
    {"QLinearConv", "auto_pad", kString, 0, "NOTSET"},
    {"QLinearConv", "group", kInt, 1},
    {"ConvTranspose", "auto_pad", kString, 0, "NOTSET"},
    {"ConvTranspose", "group", kInt, 1},
    {"MaxPool", "auto_pad", kString, 0, "NOTSET"},
    {"MaxPool", "ceil_mode", kInt, 0},
    {"MaxPool", "storage_order", kInt, 0},
    {"AveragePool", "auto_pad", kString, 0, "NOTSET"},
    {"AveragePool", "ceil_mode", kInt, 0},
    {"AveragePool", "count_include_pad", kInt, 0},
    {"LpPool", "auto_pad", kString, 0, "NOTSET"},
    {"LpPool", "ceil_mode", kInt, 0},
    {"LpPool", "p", kInt, 2},
    {"Gemm", "alpha", kFloat, 1},
    {"Gemm", "beta", kFloat, 1},
    {"Gemm", "transA", kInt, 0},
    {"Gemm", "transB", kInt, 0},
    {"QGemm", "alpha", kFloat, 1},
    {"QGemm", "transA", kInt, 0},
    {"QGemm", "transB", kInt, 0},
    {"QuantizeLinear", "axis", kInt, 1},
    {"QuantizeLinear", "saturate", kInt, 1},
    {"QuantizeLinear", "block_size", kInt, 0},
    {"QuantizeLinear", "output_dtype", kInt, 0},
    {"DequantizeLinear", "axis", kInt, 1},
    {"DequantizeLinear", "block_size", kInt, 0},
    {"Cast", "saturate", kInt, 1},
    {"Cast", "round_mode", kString, 0, "up"},
    {"BatchNormalization", "epsilon", kFloat, 1e-5F},
    {"BatchNormalization", "momentum", kFloat, 0.9F},
    {"BatchNormalization", "training_mode", kInt, 0},
    {"LayerNormalization", "axis", kInt, -1},
    {"LayerNormalization", "epsilon", kFloat, 1e-5F},
    {"LayerNormalization", "stash_type", kInt, 1},
    {"LeakyRelu", "alpha", kFloat, 0.01F},
    {"ThresholdedRelu", "alpha", kFloat, 1},
    {"Elu", "alpha", kFloat, 1},
    {"Celu", "alpha", kFloat, 1},
    {"Selu", "alpha", kFloat, 1.67326319217681884765625F},
    {"Selu", "gamma", kFloat, 1.05070102214813232421875F},
    {"HardSigmoid", "alpha", kFloat, 0.2F},
    {"HardSigmoid", "beta", kFloat, 0.5F},
    {"Gelu", "approximate", kString, 0, "none"},
    {"QuickGelu", "alpha", kFloat, 1.702F},
};

bool has(const Plan& plan, const PlanNode& node, std::string_view name) {
  const PlanAttribute* const first = plan.attributes.data() + node.first_attribute;
  return std::any_of(first, first + node.attributes,
                     [&](const PlanAttribute& attribute) { return attribute.name == name; });
}

}  // namespace

bool add_defaults(Plan& plan, PlanNode& node) {
  for (const Default& one : kDefaults) {
    if (one.op != node.op || has(plan, node, one.name)) continue;
    PlanAttribute attribute{one.name, {one.type, 0, 1, one.text}};
    if (one.type == kInt) {
      attribute.value.first = static_cast<std::uint32_t>(plan.ints.size());
      if (!plan.ints.add(static_cast<std::int64_t>(one.number))) return false;
    } else if (one.type == kFloat) {
      attribute.value.first = static_cast<std::uint32_t>(plan.floats.size());
      if (!plan.floats.add(one.number)) return false;
    }
    if (!plan.attributes.add(attribute)) return false;
    ++node.attributes;
  }
  return true;
}

}  // namespace lehr::onnxruntime
