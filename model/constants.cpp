#include "model/constants.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>

#include "base/error.h"

namespace lehr {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

std::vector<float> read_external(const OnnxModel& model, const OnnxTensor& tensor) {
  const std::filesystem::path path = external_file(model, tensor);
  std::vector<float> values(static_cast<std::size_t>(listed_count(tensor)));
  const std::uint64_t bytes = values.size() * sizeof(float);
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  if (error)
    throw_user("the elements of '{}' cannot be read: {}: {}", tensor.name, path.string(), error.message());
  if (tensor.length != 0 && tensor.length != bytes)
    throw_user("'{}' has {} bytes in {}; its shape makes {}", tensor.name, tensor.length, path.string(),
               bytes);
  if (tensor.offset > size || bytes > size - tensor.offset)
    throw_user("{} ends before the elements of '{}'", path.string(), tensor.name);
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(tensor.offset));
  file.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
  if (!file) throw_user("{} cannot be read", path.string());
  return values;
}

}  // namespace

std::filesystem::path external_file(const OnnxModel& model, const OnnxTensor& tensor) {
  const std::filesystem::path location(tensor.location), folder(model.folder);
  const auto refuse = [&](std::string_view why) {
    throw_user("'{}' has its elements in '{}', {}: only files below the model's folder are read", tensor.name,
               tensor.location, why);
  };
  if (tensor.location.empty()) refuse("which is no file");
  if (location.is_absolute()) refuse("an absolute path");
  if (std::ranges::find(location, std::filesystem::path("..")) != location.end())
    refuse("which leads upwards");
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::weakly_canonical(folder / location, error);
  const std::filesystem::path below = std::filesystem::weakly_canonical(folder, error);
  const auto [end, unused] = std::ranges::mismatch(below, whole);
  if (error || end != below.end()) refuse("a link that leads elsewhere");
  return whole;
}

std::vector<float> f32_elements(const OnnxModel& model, const OnnxTensor& tensor) {
  if (tensor.type != OnnxType::kF32) throw_user("'{}' is of {}, not f32", tensor.name, name_of(tensor.type));
  if (element_count(tensor) > kMostElements) throw_user("'{}' is too large", tensor.name);
  std::optional<std::vector<float>> values =
      tensor.external ? all_of(tensor, read_external(model, tensor)) : floats_of(tensor, kMostElements);
  if (!values)
    throw_user("'{}' has other elements than its shape{} says", tensor.name,
               tensor.places ? " and its places" : "");
  return *std::move(values);
}

Constants::Constants(const OnnxModel& model, const ModelShapes& shapes) : model_(model), shapes_(shapes) {
  for (const OnnxNode& node : model.nodes)
    for (const std::string_view op : {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"})
      if (node.op == op && node.domain.empty() && !node.outputs.empty())
        reshaped_[node.outputs[0]] = node.input(0);
}

const OnnxTensor* Constants::find(std::string_view value) const {
  // Every node reads what is made before it: this comes to an end.
  for (auto found = reshaped_.find(value); found != reshaped_.end(); found = reshaped_.find(value))
    value = found->second;
  return shapes_.of(value).constant;
}

std::vector<double> Constants::elements(std::string_view value) const {
  const OnnxTensor* const tensor = find(value);
  if (tensor == nullptr) throw_user("'{}' is no constant of the file", value);
  const std::vector<float> values = f32_elements(model_, *tensor);
  return {values.begin(), values.end()};
}

}  // namespace lehr
