#include "measure/vendor/onnxruntime/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/small_float.h"

namespace lehr::onnxruntime {
namespace {

/// Allowed difference of a model from the original, as a multiple of the original's difference from itself.
constexpr double kTimesOwn = 4;
/// Upper limit of the difference that rounding of the inputs excuses, as a fraction of the range. A network
/// that amplifies rounding more would hide every fault.
constexpr double kMostNudged = 0.02;
/// Fraction of the range. An output whose allowed difference is this large shows nothing: it is random.
constexpr double kSaysNothing = 0.5;
/// Numbers beyond this come from a mask. They only have to be beyond it in both outputs, and do not count in
/// a range.
constexpr double kMasked = 1e30;
/// Number of steps of the 8-bit quantization from 0 to the largest magnitude.
constexpr double kCodedRange = 127;
/// Number of steps in a kernel's output that one step in its input may cause.
constexpr double kChained = 4;
constexpr double kMostMeanSteps = 0.25;

template <typename T>
T element(const std::string& bytes, std::size_t i) {
  T value;
  std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
  return value;
}

/// Returns the distance of neighbouring numbers of a type, as a fraction of the larger one; 0 if the type has
/// no real numbers.
double spacing_of(OrtElementType type) {
  switch (type) {
    case OrtElementType::kDouble:
      return 0x1p-52;
    case OrtElementType::kFloat:
      return 0x1p-23;
    case OrtElementType::kFloat16:
      return 0x1p-10;
    case OrtElementType::kBfloat16:
      return 0x1p-7;
    case OrtElementType::kFloat8E4M3FN:
      return 0x1p-3;
    case OrtElementType::kFloat8E5M2:
      return 0x1p-2;
    default:
      return 0;
  }
}

/// Calls `use` with a function that reads elements of a real type. The type is decided once, not for each
/// element.
auto with_reader(OrtElementType type, const auto& use) {
  const auto of = [&]<typename T>(T, auto convert) {
    return use(
        [convert](const Data& data, std::size_t i) -> double { return convert(element<T>(data.bytes, i)); });
  };
  const auto same = [](auto value) { return value; };
  switch (type) {
    case OrtElementType::kDouble:
      return of(double(), same);
    case OrtElementType::kFloat:
      return of(float(), same);
    case OrtElementType::kFloat16:
      return of(std::uint16_t(), [](std::uint16_t code) { return from_f16(code); });
    case OrtElementType::kBfloat16:
      return of(std::uint16_t(), [](std::uint16_t code) { return from_bf16(code); });
    case OrtElementType::kFloat8E4M3FN:
      return of(std::uint8_t(), [](std::uint8_t code) { return from_e4m3(code); });
    default:
      return of(std::uint8_t(), [](std::uint8_t code) { return from_e5m2(code); });
  }
}

double real_at(const Data& data, std::size_t i) {
  return with_reader(data.type, [&](const auto& read) { return read(data, i); });
}

bool is_real(const Data& data) {
  return spacing_of(data.type) > 0;
}

bool is_quantized(const Data& data) {
  return data.type == OrtElementType::kUint8 || data.type == OrtElementType::kInt8;
}

std::size_t count_of(const Data& data) {
  const std::size_t size = bytes_of(data.type);
  return size == 0 ? 0 : data.bytes.size() / size;
}

/// Counts of the elements of an output of reals.
struct Tally {
  std::size_t special = 0;  ///< infinities and NaN
  double range = 0;         ///< largest magnitude of the other elements
};
/// Counts the elements of `data`. Elements that are equal in `other`, the output for other inputs, do not
/// depend on the inputs. They do not count in the range unless all elements are such.
Tally tally_of(const Data& data, const Data* other) {
  if (other != nullptr && (other->type != data.type || other->shape != data.shape)) other = nullptr;
  Tally tally;
  double fixed = 0;
  with_reader(data.type, [&](const auto& read) {
    for (std::size_t i = 0, count = count_of(data); i < count; ++i) {
      const double value = read(data, i);
      double& largest = other != nullptr && read(*other, i) == value ? fixed : tally.range;
      if (!std::isfinite(value))
        ++tally.special;
      else if (std::abs(value) < kMasked)
        largest = std::max(largest, std::abs(value));
    }
  });
  if (tally.range == 0) tally.range = fixed;
  return tally;
}

Difference real_difference(const Data& wanted, const Data& got) {
  Difference result;
  with_reader(wanted.type, [&](const auto& read) {
    for (std::size_t i = 0, count = count_of(wanted); i < count; ++i) {
      const double one = read(wanted, i), other = read(got, i);
      if (std::isfinite(one) && std::isfinite(other))
        result.worst = std::max(result.worst, std::abs(std::clamp(one, -kMasked, kMasked) -
                                                       std::clamp(other, -kMasked, kMasked)));
      else if (one != other && !(std::isnan(one) && std::isnan(other)))
        result.other_matches = true;
    }
  });
  return result;
}

Difference steps_between(const Data& wanted, const Data& got) {
  int worst = 0;
  double sum = 0;
  const std::size_t count = count_of(wanted);
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_signed = wanted.type == OrtElementType::kInt8;
    const int one =
        is_signed ? element<std::int8_t>(wanted.bytes, i) : element<std::uint8_t>(wanted.bytes, i);
    const int other = is_signed ? element<std::int8_t>(got.bytes, i) : element<std::uint8_t>(got.bytes, i);
    worst = std::max(worst, std::abs(one - other));
    sum += std::abs(one - other);
  }
  return {.worst = static_cast<double>(worst), .mean = count == 0 ? 0 : sum / static_cast<double>(count)};
}

/// Returns the fraction of elements that differ. A text is one element.
double unequal_share(const Data& wanted, const Data& got) {
  const std::size_t size = bytes_of(wanted.type), count = count_of(wanted);
  if (size == 0) return wanted.bytes == got.bytes ? 0 : 1;
  std::size_t differ = 0;
  for (std::size_t i = 0; i < count; ++i)
    differ += std::memcmp(wanted.bytes.data() + i * size, got.bytes.data() + i * size, size) != 0;
  return count == 0 ? 0 : static_cast<double>(differ) / static_cast<double>(count);
}

}  // namespace

std::size_t count_special(const Data& data) {
  return is_real(data) ? tally_of(data, nullptr).special : 0;
}

Difference difference(const Data& wanted, const Data& got) {
  if (wanted.type != got.type || wanted.shape != got.shape) return {.other_shape = true};
  if (is_real(wanted)) return real_difference(wanted, got);
  if (is_quantized(wanted)) return steps_between(wanted, got);
  return {.worst = unequal_share(wanted, got)};
}

std::string clause(const BlindOutput& output) {
  return fmt::format("'{}': {}", output.name, output.reason);
}

void add_own(Original& original, const std::vector<Data>& again) {
  original.own.resize(original.outputs.size());
  for (std::size_t i = 0; i < original.outputs.size(); ++i) {
    if (i >= again.size()) continue;
    const Difference one = difference(original.outputs[i], again[i]);
    Difference& own = original.own[i];
    own = {std::max(own.worst, one.worst), std::max(own.mean, one.mean),
           own.other_matches || one.other_matches, own.other_shape || one.other_shape};
  }
}

Comparison::Comparison(std::span<const Original> originals, const ComparisonRules& rules)
    : originals_(originals),
      rules_(rules),
      outputs_(originals.empty() ? 0 : originals[0].outputs.size()),
      limits_(originals.size(), std::vector<Limit>(outputs_)) {
  for (std::size_t i = 0; i < outputs_; ++i) set_limits(i);
}

void Comparison::set_limits(std::size_t output) {
  std::vector<Tally> tallies;
  // Smallest and largest range above 0 over all kinds of inputs.
  double smallest_range = 0, largest_range = 0;
  std::size_t fewest_special = SIZE_MAX;
  for (std::size_t kind = 0; kind < originals_.size(); ++kind) {
    const Data* const other =
        originals_.size() < 2 ? nullptr : &originals_[kind == 0 ? 1 : 0].outputs[output];
    const Data& data = originals_[kind].outputs[output];
    const Tally& tally = tallies.emplace_back(is_real(data) ? tally_of(data, other) : Tally());
    fewest_special = std::min(fewest_special, tally.special);
    if (tally.range > 0)
      smallest_range = smallest_range == 0 ? tally.range : std::min(smallest_range, tally.range);
    largest_range = std::max(largest_range, tally.range);
  }
  const bool says_something = !rules_.outputs_vary || originals_.size() < 2 || varies(output);
  for (std::size_t kind = 0; kind < originals_.size(); ++kind) {
    const Data& data = originals_[kind].outputs[output];
    const Difference& own = originals_[kind].own[output];
    const Tally& tally = tallies[kind];
    Limit& limit = limits_[kind][output];
    limit.matches = tally.special == fewest_special;
    if (is_real(data)) {
      // If all elements are 0, differences are fractions of the output's range for other inputs.
      limit.range = tally.range > 0 ? tally.range : smallest_range > 0 ? smallest_range : 1;
      if (rules_.common_range && largest_range > 0) limit.range = largest_range;
      const std::vector<Difference>& nudged = originals_[kind].nudged;
      const double rounding = output < nudged.size() ? kTimesOwn * nudged[output].worst / limit.range : 0;
      limit.share = std::max({rules_.tolerance, spacing_of(data.type), kTimesOwn * own.worst / limit.range,
                              std::min(rounding, kMostNudged)});
    } else if (is_quantized(data)) {
      limit.range = kCodedRange;
      limit.share =
          std::max({kChained * rules_.tolerance, 1 / kCodedRange, kTimesOwn * own.worst / kCodedRange});
      // In a short output one element moves the mean a lot.
      const double of_one =
          limit.share * kCodedRange / static_cast<double>(std::max<std::size_t>(1, count_of(data)));
      limit.mean = std::max({kMostMeanSteps, of_one, kTimesOwn * own.mean});
    } else {
      limit.share = kTimesOwn * own.worst;
    }
    limit.compared = says_something && !own.other_shape && !own.other_matches && !data.bytes.empty() &&
                     (!is_real(data) || tally.special < count_of(data)) && limit.share < kSaysNothing;
  }
}

OutputAgreement& Comparison::output_in(Agreement& agreement, std::size_t output) const {
  while (agreement.outputs.size() < outputs_)
    agreement.outputs.push_back({originals_[0].outputs[agreement.outputs.size()].name});
  return agreement.outputs[output];
}

void Comparison::add_classes(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const {
  for (std::size_t i = 0; i < std::min(outputs_, got.size()); ++i) {
    const Data& wanted = originals_[kind].outputs[i];
    if (!limits_[kind][i].compared || !is_real(wanted) || wanted.shape.size() != 2 || wanted.shape[1] < 2 ||
        got[i].shape != wanted.shape || got[i].type != wanted.type)
      continue;
    OutputAgreement& output = output_in(agreement, i);
    const auto classes = static_cast<std::size_t>(wanted.shape[1]);
    for (std::size_t first = 0; first + classes <= count_of(wanted); first += classes) {
      std::size_t own = first, other = first;
      for (std::size_t at = first; at < first + classes; ++at) {
        if (real_at(wanted, at) > real_at(wanted, own)) own = at;
        if (real_at(got[i], at) > real_at(got[i], other)) other = at;
      }
      ++output.rows;
      output.same_class += real_at(wanted, other) == real_at(wanted, own);
    }
  }
}

void Comparison::add(std::size_t kind, const std::vector<Data>& got, Agreement& agreement) const {
  const Original& original = originals_[kind];
  for (std::size_t i = 0; i < outputs_; ++i) {
    const Data& wanted = original.outputs[i];
    const auto wrong = [&](const std::string& what) {
      if (agreement.wrong.empty())
        agreement.wrong = fmt::format("output '{}' {} with inputs of {}", wanted.name, what, original.kind);
    };
    if (original.own[i].other_shape) continue;
    const Difference found = i < got.size() ? difference(wanted, got[i]) : Difference{.other_shape = true};
    const Limit& limit = limits_[kind][i];
    if (found.other_shape) {
      wrong("has another shape or type than the original's");
    } else if (found.other_matches && limit.compared && limit.matches) {
      wrong("has infinities or NaN in other places than the original's");
    } else if (!found.other_matches && limit.compared) {
      const double share = found.worst / limit.range;
      if (share > limit.share && is_quantized(wanted))
        wrong(fmt::format("differs by {:.0f} steps", found.worst));
      else if (is_quantized(wanted) && found.mean > limit.mean)
        wrong(fmt::format("differs by {:.2g} steps in the mean", found.mean));
      else if (share > limit.share && is_real(wanted))
        wrong(fmt::format("differs by {:.2g} of its range, of which {:.2g} is allowed,", share, limit.share));
      else if (share > limit.share)
        wrong(fmt::format("differs in {:.2g} of its elements", share));
      if (share > agreement.worst && std::isfinite(share)) {
        agreement.worst = share;
        agreement.where = wanted.name;
      }
      double& worst = output_in(agreement, i).worst;
      if (std::isfinite(share)) worst = std::max(worst, share);
    }
  }
}

bool Comparison::varies(std::size_t output) const {
  return std::ranges::any_of(originals_, [&](const Original& each) {
    return each.outputs[output].bytes != originals_[0].outputs[output].bytes;
  });
}

std::string Comparison::why_blind(std::size_t output) const {
  bool typed = false, filled = false, finite = false;
  for (std::size_t kind = 0; kind < originals_.size(); ++kind) {
    const Data& data = originals_[kind].outputs[output];
    if (limits_[kind][output].compared) return "";
    typed = typed || data.type != OrtElementType::kUndefined;
    filled = filled || !data.bytes.empty();
    finite = finite || !is_real(data) || tally_of(data, nullptr).special < count_of(data);
  }
  if (!typed) return "it is no tensor of a type that can be compared";
  if (!filled) return "it has no elements";
  if (!finite) return "it has no finite value";
  if (rules_.outputs_vary && !varies(output)) return "it is the same for all inputs";
  return "the original itself does not give the same twice: it is made at random";
}

std::vector<BlindOutput> Comparison::blind() const {
  std::vector<BlindOutput> result;
  for (std::size_t i = 0; i < outputs_; ++i)
    if (const std::string why = why_blind(i); !why.empty())
      result.push_back({originals_[0].outputs[i].name, why});
  return result;
}

bool Comparison::says_anything() const {
  return blind().size() < outputs_;
}

std::vector<std::string> Comparison::not_finite() const {
  std::vector<std::string> result;
  for (std::size_t kind = 0; kind < originals_.size(); ++kind)
    for (std::size_t i = 0; i < outputs_; ++i)
      if (!limits_[kind][i].matches)
        result.push_back(fmt::format("the original's '{}' is not finite with inputs of {}",
                                     originals_[kind].outputs[i].name, originals_[kind].kind));
  return result;
}

double Comparison::own() const {
  double worst = 0;
  for (std::size_t kind = 0; kind < originals_.size(); ++kind)
    for (std::size_t i = 0; i < outputs_; ++i)
      if (const Limit& each = limits_[kind][i]; each.compared && is_real(originals_[kind].outputs[i]))
        worst = std::max(worst, originals_[kind].own[i].worst / each.range);
  return worst;
}

}  // namespace lehr::onnxruntime
