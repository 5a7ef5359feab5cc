#include "apply/constants_file.h"

#include <fmt/format.h>

#include "network/protobuf.h"

namespace lehr {
namespace {

constexpr std::size_t kLeastBytes = 1024;
/// Alignment of a tensor's elements in the file. Tensors of at least a page begin at a page, since engines
/// map pages of files.
constexpr std::size_t kAlignment = 64, kPage = 4096;

std::string entry(std::string_view key, std::string_view value) {
  return bytes_field(13, bytes_field(1, key) + bytes_field(2, value));
}

std::size_t bytes_of(const OnnxTensor& tensor) {
  return tensor.raw.empty() ? tensor.floats.size() * sizeof(float) : tensor.raw.size();
}

/// Whether this field of TensorProto holds elements.
bool is_of_elements(std::uint32_t field) {
  return field == 4 || field == 9;
}

}  // namespace

bool ConstantsFile::is_large(const OnnxTensor& tensor) {
  return !tensor.external && tensor.matches == nullptr && bytes_of(tensor) >= kLeastBytes;
}

std::string ConstantsFile::moved(const OnnxTensor& tensor, std::string_view message) {
  if (!is_large(tensor)) return std::string(message);
  std::string_view elements = tensor.raw;
  if (elements.empty())
    elements = made_.emplace_back(reinterpret_cast<const char*>(tensor.floats.data()), bytes_of(tensor));
  std::string bytes;
  for (Wire wire(message); wire.next();)
    if (!is_of_elements(wire.field())) bytes += wire.record();
  return bytes + entry("location", path_) + entry("offset", std::to_string(offset_of(elements))) +
         entry("length", std::to_string(elements.size())) + number_field(14, 1);
}

std::uint64_t ConstantsFile::offset_of(std::string_view elements) {
  const auto [offset, is_new] = offsets_.try_emplace(elements);
  if (!is_new) return offset->second;
  const std::size_t alignment = elements.size() >= kPage ? kPage : kAlignment;
  bytes_.resize((bytes_.size() + alignment - 1) / alignment * alignment);
  offset->second = bytes_.size();
  bytes_ += elements;
  return offset->second;
}

}  // namespace lehr
