#include "measure/vendor/onnxruntime/inputs.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "base/error.h"
#include "base/rng.h"
#include "base/small_float.h"

namespace lehr::onnxruntime {
namespace {

using Draw = InputKind::Draw;

constexpr InputKind kKinds[] = {{"N(0, 1)", Draw::kNormal, 1},
                                {"N(0, 1) times 0.01", Draw::kNormal, 0.01},
                                {"N(0, 1) times 30", Draw::kNormal, 30},
                                {"N(0, 1) times 1000", Draw::kNormal, 1000},
                                {"0 to 255", Draw::kImage, 1},
                                {"zeros", Draw::kEqual, 0},
                                {"ones", Draw::kEqual, 1}};

/// Near to normal: the sum of twelve uniform numbers less six.
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
    case Draw::kEqual:
      return kind.scale;
  }
  return 0;
}

std::int64_t drawn_whole(const InputKind& kind, const WholeRange& range, Rng& rng) {
  const auto [low, high] = range;
  if (kind.draw == Draw::kEqual) return std::clamp(static_cast<std::int64_t>(kind.scale), low, high);
  return low + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(high - low) + 1));
}

/// What a type's elements may be where the graph asks for nothing; nullopt for reals.
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

/// In two's complement the low bytes are the number in each type.
void append_whole(OrtElementType type, std::int64_t value, std::string& bytes) {
  bytes.append(reinterpret_cast<const char*>(&value), bytes_of(type));
}

}  // namespace

std::span<const InputKind> input_kinds() {
  return kKinds;
}

std::vector<Data> make_inputs(std::span<const Value> inputs, const InputNeeds& needs, const InputKind& kind,
                              std::uint64_t seed) {
  std::vector<Data> made;
  Rng rng(seed);
  for (const Value& value : inputs) {
    Data& data = made.emplace_back(value.name, value.type, value.shape, "");
    if (const auto given = needs.shapes.find(value.name); given != needs.shapes.end())
      data.shape = given->second;
    std::size_t count = 1;
    for (std::int64_t& dim : data.shape) {
      if (dim < 0) dim = 1;
      count *= static_cast<std::size_t>(dim);
    }
    const std::optional<WholeRange> usual = usual_range(value.type);
    const auto asked = needs.ranges.find(value.name);
    const std::optional<WholeRange> range = asked != needs.ranges.end() ? asked->second : usual;
    for (std::size_t i = 0; i < count; ++i) {
      const std::int64_t whole = range ? drawn_whole(kind, *range, rng) : 0;
      if (usual)
        append_whole(value.type, whole, data.bytes);
      else
        append_real(value.type, range ? static_cast<double>(whole) : drawn_real(kind, rng), data.bytes);
    }
  }
  return made;
}

}  // namespace lehr::onnxruntime
