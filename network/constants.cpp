#include "network/constants.h"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/file_kind.h"

namespace lehr {
namespace {

constexpr std::int64_t kMostElements = std::int64_t{1} << 31;

/// Returns the bits of an element of a type (TensorProto.DataType). Returns 0 for text, which external files
/// cannot hold, and nullopt for types that are newer than this table.
std::optional<unsigned> bits_of(OnnxType type) {
  constexpr unsigned bits[] = {0,  32,  8,  8, 16, 16, 32, 64, 0, 8, 16, 64, 32, 64,
                               64, 128, 16, 8, 8,  8,  8,  4,  4, 4, 8,  2,  2};
  const auto number = static_cast<std::size_t>(type);
  if (number == 0 || number >= std::size(bits)) return std::nullopt;
  return bits[number];
}

/// Throws unless the file has as many bytes for the tensor as the tensor's shape demands.
void expect_elements(const OnnxTensor& tensor, const std::filesystem::path& path, std::uint64_t size) {
  std::uint64_t bytes = tensor.length;
  if (const std::optional<unsigned> bits = bits_of(tensor.type)) {
    std::uint64_t all = 0;
    const bool fits = !__builtin_mul_overflow(listed_count(tensor), *bits, &all);
    bytes = fits ? all / 8 + (all % 8 != 0) : UINT64_MAX;
    if (tensor.length != 0 && tensor.length != bytes)
      throw_user("'{}' has {} bytes in {}; its shape makes {}", tensor.name, tensor.length, path.string(),
                 bytes);
  }
  if (tensor.offset > size || bytes > size - tensor.offset)
    throw_user("{} ends before the elements of '{}'", path.string(), tensor.name);
}

/// Returns the listed elements of an external tensor as raw bytes.
std::string read_external(const OnnxModel& model, const OnnxTensor& tensor) {
  const std::filesystem::path path = external_file(model, tensor);
  std::string bytes(static_cast<std::size_t>(listed_count(tensor)) * bits_of(tensor.type).value_or(0) / 8,
                    '\0');
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(tensor.offset));
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!file) throw_user("{} cannot be read", path.string());
  return bytes;
}

/// Returns the elements of a tensor as `elements_of` reads them. First loads them if they are in a file of
/// their own.
template <typename ElementsOf>
auto all_elements(const OnnxModel& model, const OnnxTensor& tensor, const ElementsOf& elements_of) {
  if (element_count(tensor) > kMostElements) throw_user("'{}' is too large", tensor.name);
  OnnxTensor whole = tensor;
  std::string bytes;
  if (tensor.external) {
    bytes = read_external(model, tensor);
    whole.raw = bytes;
    whole.external = false;
  }
  auto values = elements_of(whole, kMostElements);
  if (!values)
    throw_user("'{}' has other elements than its shape{} says", tensor.name,
               tensor.matches ? " and its places" : "");
  return *std::move(values);
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
  // If the model is a link, its external files may be links into the folder of the model's target. Model hubs
  // lay out their caches like this, and ONNX Runtime reads such files.
  if (error ||
      !(leads_into(whole, folder) || (!model.real_folder.empty() && leads_into(whole, model.real_folder))))
    refuse("a link that leads elsewhere");
  if (const std::string_view kind = kind_if_no_file(whole); !kind.empty())
    throw_user("'{}' has its elements in '{}', which is {} and no file", tensor.name, tensor.location, kind);
  const std::uintmax_t size = std::filesystem::file_size(whole, error);
  if (error)
    throw_user("the elements of '{}' cannot be read: {}: {}", tensor.name, whole.string(), error.message());
  expect_elements(tensor, whole, size);
  return whole;
}

void add_external(const OnnxModel& model, const OnnxTensor& tensor, ExternalFiles& files) {
  files[std::filesystem::path(tensor.location).lexically_normal().string()] = external_file(model, tensor);
}

ExternalFiles external_files(const OnnxModel& model) {
  ExternalFiles files;
  for (const OnnxTensor& constant : model.constants)
    if (constant.external) add_external(model, constant, files);
  for (const OnnxNode& node : model.nodes)
    for (const OnnxTensor& tensor : node.external) add_external(model, tensor, files);
  return files;
}

std::vector<float> f32_elements(const OnnxModel& model, const OnnxTensor& tensor) {
  if (tensor.type != OnnxType::kF32) throw_user("'{}' is of {}, not f32", tensor.name, name_of(tensor.type));
  return all_elements(model, tensor, &floats_of);
}

std::vector<std::int64_t> whole_elements(const OnnxModel& model, const OnnxTensor& tensor) {
  return all_elements(model, tensor, &wholes_of);
}

bool only_reshapes(const OnnxNode& node) {
  constexpr std::string_view kOps[] = {"Identity", "Reshape", "Squeeze", "Unsqueeze", "Flatten"};
  return node.domain.empty() && !node.outputs.empty() && std::ranges::find(kOps, node.op) != std::end(kOps);
}

Constants::Constants(const OnnxModel& model, const GraphShapes& shapes) : model_(model), shapes_(shapes) {
  for (const OnnxNode& node : model.nodes)
    if (only_reshapes(node)) reshaped_[node.outputs[0]] = node.input(0);
}

const OnnxTensor* Constants::find(std::string_view value) const {
  // The loop ends, since every node reads only values that earlier nodes make.
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
