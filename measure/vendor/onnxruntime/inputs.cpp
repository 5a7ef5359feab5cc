#include "measure/vendor/onnxruntime/inputs.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/rng.h"
#include "base/small_float.h"

namespace lehr::onnxruntime {
namespace {

using Draw = InputKind::Draw;

constexpr InputKind kKinds[] = {{"N(0, 1)", Draw::kNormal, 1},
                                {"0 and 1", Draw::kMask, 1},
                                {"N(0, 1) times 0.01", Draw::kNormal, 0.01},
                                {"N(0, 1) times 30", Draw::kNormal, 30},
                                {"N(0, 1) times 1000", Draw::kNormal, 1000},
                                {"0 to 255", Draw::kImage, 1},
                                {"zeros", Draw::kEqual, 0},
                                {"ones", Draw::kEqual, 1}};

/// Returns an approximately normal number: the sum of twelve uniform numbers, minus six.
double normal(Rng& rng) {
  double sum = -6;
  for (int i = 0; i < 12; ++i) sum += rng.uniform();
  return sum;
}

double drawn_real(const InputKind& kind, Rng& rng) {
  switch (kind.draw) {
    case Draw::kNormal:
      return kind.scale * normal(rng);
    case Draw::kImage:
      return static_cast<double>(rng.below(256));
    default:
      return kind.scale;
  }
}

double drawn_whole(const InputKind& kind, const WholeRange& range, Rng& rng) {
  const auto [low, high] = range;
  if (kind.draw == Draw::kEqual)
    return static_cast<double>(std::clamp(static_cast<std::int64_t>(kind.scale), low, high));
  return static_cast<double>(
      low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low) + 1)));
}

/// Draws an element of a mask. Each row begins with ones and ends with zeros, as for a padded text. A row
/// with a single one would not do: a softmax over it would be constant.
double drawn_of_mask(std::size_t column, std::size_t row, Rng& rng) {
  if (column == 0 || (column == 1 && row > 2)) return 1;
  return column + 1 == row ? 0 : static_cast<double>(rng.below(2));
}

/// Returns the range of elements of an integer type for which the graph has no requirement; nullopt for
/// reals.
std::optional<WholeRange> usual_range(OrtElementType type) {
  switch (type) {
    case OrtElementType::kBool:
      return WholeRange{0, 1};
    case OrtElementType::kUint8:
      return WholeRange{0, 255};
    case OrtElementType::kInt8:
      return WholeRange{-128, 127};
    case OrtElementType::kUint16:
    case OrtElementType::kInt16:
    case OrtElementType::kUint32:
    case OrtElementType::kInt32:
    case OrtElementType::kUint64:
    case OrtElementType::kInt64:
      return WholeRange{0, 7};
    default:
      return std::nullopt;
  }
}

template <typename T>
void append(T value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void append_real(OrtElementType type, double value, std::string& bytes) {
  const auto narrow = static_cast<float>(value);
  switch (type) {
    case OrtElementType::kDouble:
      return append(value, bytes);
    case OrtElementType::kFloat:
      return append(narrow, bytes);
    case OrtElementType::kFloat16:
      return append(to_f16(narrow), bytes);
    case OrtElementType::kBfloat16:
      return append(to_bf16(narrow), bytes);
    case OrtElementType::kFloat8E4M3FN:
      return append(to_e4m3(narrow), bytes);
    case OrtElementType::kFloat8E5M2:
      return append(to_e5m2(narrow), bytes);
    default:
      throw_user("no elements are made up for inputs of type {}: give them with --feed",
                 static_cast<int>(type));
  }
}

/// Appends an integer. Its low bytes in two's complement are the number in each integer type.
void append_whole(OrtElementType type, std::int64_t value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), bytes_of(type));
}

}  // namespace

std::span<const InputKind> input_kinds() {
  return kKinds;
}

namespace {

/// Returns an input with its name, type and shape, but without elements.
Data without_elements(const Value& value, const InputNeeds& needs) {
  Data data = {value.name, value.type, value.shape, ""};
  if (const auto given = needs.shapes.find(value.name); given != needs.shapes.end())
    data.shape = given->second;
  for (std::int64_t& dim : data.shape)
    if (dim < 0) dim = 1;
  return data;
}

void append_elements(const InputKind& kind, const std::optional<WholeRange>& range, Rng& rng, Data& data) {
  std::size_t count = 1;
  for (const std::int64_t dim : data.shape) count *= static_cast<std::size_t>(dim);
  const std::size_t row = data.shape.empty() ? 1 : static_cast<std::size_t>(data.shape.back());
  for (std::size_t i = 0; i < count; ++i) {
    const double drawn = kind.draw == Draw::kMask ? drawn_of_mask(i % row, row, rng)
                         : range                  ? drawn_whole(kind, *range, rng)
                                                  : drawn_real(kind, rng);
    if (usual_range(data.type))
      append_whole(data.type, static_cast<std::int64_t>(drawn), data.bytes);
    else
      append_real(data.type, drawn, data.bytes);
  }
}

}  // namespace

bool may_be_mask(const Value& input) {
  return usual_range(input.type).has_value();
}

std::vector<Data> make_inputs(std::span<const Value> inputs, const InputNeeds& needs, const InputKind& kind,
                              std::uint64_t seed) {
  constexpr InputKind kMixed = {"a mask", Draw::kMask, 1}, kOnes = {"ones", Draw::kEqual, 1},
                      kAny = {"any", Draw::kNormal, 1};
  const bool mixed = kind.draw == Draw::kMask || (kind.draw == Draw::kNormal && kind.scale == 1);
  std::vector<Data> made;
  Rng rng(seed);
  for (const Value& value : inputs) {
    Data& data = made.emplace_back(without_elements(value, needs));
    const auto asked = needs.ranges.find(value.name);
    Rng of_mask(0);
    if (needs.masks.contains(value.name))
      append_elements(mixed ? kMixed : kOnes, {}, of_mask, data);
    else if (asked == needs.ranges.end())
      append_elements(kind, usual_range(value.type), rng, data);
    else
      append_elements(kind.draw == Draw::kMask ? kAny : kind, asked->second, rng, data);
  }
  return made;
}

std::vector<Data> nudged(std::vector<Data> inputs, std::uint64_t seed) {
  constexpr float kNudge = 0x1p-20F;
  Rng rng(seed);
  for (Data& data : inputs) {
    if (data.type != OrtElementType::kFloat) continue;
    for (std::size_t i = 0; i + sizeof(float) <= data.bytes.size(); i += sizeof(float)) {
      float value = 0;
      std::memcpy(&value, data.bytes.data() + i, sizeof value);
      value *= rng.below(2) == 0 ? 1 + kNudge : 1 - kNudge;
      std::memcpy(data.bytes.data() + i, &value, sizeof value);
    }
  }
  return inputs;
}

}  // namespace lehr::onnxruntime
