#include "apply/feed.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "apply/npz.h"
#include "base/error.h"
#include "base/file_output.h"

namespace lehr {
namespace {

using Type = OrtElementType;

/// NumPy's names of types. NumPy has no name for bf16, which other packages store as two bytes without a
/// meaning (V2).
constexpr std::pair<std::string_view, Type> kTypes[] = {
    {"<f4", Type::kFloat},    {"<f8", Type::kDouble}, {"<f2", Type::kFloat16}, {"|V2", Type::kBfloat16},
    {"<V2", Type::kBfloat16}, {"|b1", Type::kBool},   {"|u1", Type::kUint8},   {"|i1", Type::kInt8},
    {"<u2", Type::kUint16},   {"<i2", Type::kInt16},  {"<u4", Type::kUint32},  {"<i4", Type::kInt32},
    {"<u8", Type::kUint64},   {"<i8", Type::kInt64}};

void check(const NpzArray& array, Type type, const OnnxValueInfo& input, const ShapeBindings& bindings) {
  // The enumerators of both types are the numbers of TensorProto.
  if (input.type != OnnxType::kUnknown && static_cast<int>(input.type) != static_cast<int>(type))
    throw_user("--feed: '{}' is of NumPy's type '{}'; the model's input is of {}", array.name, array.type,
               name_of(input.type));
  if (!input.dims) return;
  bool fits = input.dims->size() == array.shape.size();
  std::vector<std::string> wanted;
  for (std::size_t i = 0; i < input.dims->size(); ++i) {
    const OnnxDim& dim = (*input.dims)[i];
    const auto bound = bindings.dims.find(std::string(dim.name));
    const std::optional<std::int64_t> size = dim.size                       ? dim.size
                                             : bound != bindings.dims.end() ? std::optional(bound->second)
                                                                            : std::nullopt;
    wanted.push_back(size ? std::to_string(*size) : dim.name.empty() ? "?" : std::string(dim.name));
    fits = fits && (!size || *size == array.shape[i]);
  }
  if (!fits)
    throw_user("--feed: '{}' is of shape {}; the model's input is of {}", array.name,
               fmt::join(array.shape, "x"), fmt::join(wanted, "x"));
}

}  // namespace

std::vector<onnxruntime::FedInput> fed_inputs(const std::string& path, const OnnxModel& model,
                                              const ShapeBindings& bindings, const std::string& folder) {
  std::vector<onnxruntime::FedInput> inputs;
  for (const NpzArray& array : read_npz(path)) {
    const auto type = std::ranges::find(kTypes, array.type, &std::pair<std::string_view, Type>::first);
    const auto input = std::ranges::find(model.inputs, std::string_view(array.name), &OnnxValueInfo::name);
    if (input == model.inputs.end()) {
      std::vector<std::string_view> known;
      for (const OnnxValueInfo& each : model.inputs) known.push_back(each.name);
      throw_user("--feed: the model has no input '{}'; there are {}", array.name, fmt::join(known, ", "));
    }
    if (type == std::end(kTypes)) throw_user("--feed: '{}' is of NumPy's type '{}'", array.name, array.type);
    check(array, type->second, *input, bindings);
    const std::string file = fmt::format("{}/input{}", folder, inputs.size());
    write_file(file, array.bytes);
    inputs.push_back({array.name, static_cast<int>(type->second), array.shape, file});
  }
  if (inputs.empty()) throw_user("--feed: {} has no array", path);
  return inputs;
}

}  // namespace lehr
