#include "workload/integers.h"

#include <algorithm>
#include <cmath>

namespace lehr {
namespace {

/// Deviation of both operands. Each value of their types occurs; the minimum and the maximum are at least one
/// in 200 elements, so that two products overflow a saturating instruction.
constexpr double kDeviation = 50;
/// Length from which on the second operand is drawn smaller, so that sums have a deviation of at most 2^20.
constexpr std::int64_t kLongSum = 16384;

/// Squared distance of the first operand's mean from the zero point; from 0 if there is no zero point.
struct SquaredOffset {
  double mean = 0, most = 0;
};
SquaredOffset squared_offset(const ProductSums& sums) {
  const double middle = usual_draw(sums.operand).mean;
  if (sums.zero == ZeroPoint::kNone) return {middle * middle, middle * middle};
  SquaredOffset of;
  for (std::int64_t i = 0; i < kZeroPoints; ++i) {
    const double offset = middle - static_cast<double>(zero_point(sums.operand, i));
    of.mean += offset * offset / kZeroPoints;
    of.most = std::max(of.most, offset * offset);
  }
  return of;
}

double deviation_of_second(const ProductSums& sums) {
  const double share = static_cast<double>(kLongSum) / static_cast<double>(sums.products);
  return kDeviation * std::sqrt(std::min(1.0, share));
}

/// Returns the deviation of the sums, taken over all zero points.
double deviation_of(const ProductSums& sums) {
  return std::sqrt(static_cast<double>(sums.products) *
                   (kDeviation * kDeviation + squared_offset(sums).mean)) *
         deviation_of_second(sums);
}

}  // namespace

void set_draws(const ProductSums& sums, const Epilogue& epilogue, std::vector<TensorSpec>& tensors) {
  if (sums.operand != DType::kU8 && sums.zero == ZeroPoint::kNone && epilogue.empty()) return;
  const std::vector<StepOperand> operands = operands_of(epilogue);
  const auto first = tensors.end() - static_cast<std::ptrdiff_t>(operands.size());
  tensors[0].draw.deviation = kDeviation;
  tensors[1].draw.deviation = deviation_of_second(sums);
  for (auto tensor = tensors.begin() + 2; tensor != first; ++tensor)
    if (!tensor->is_output()) tensor->draw.kind = Draw::Kind::kZeroPoint;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    TensorSpec& tensor = first[static_cast<std::ptrdiff_t>(i)];
    const StepOperand& operand = operands[i];
    if (operand.draw)
      tensor.draw = *operand.draw;
    else if (tensor.type == DType::kU8 || tensor.type == DType::kS8)
      tensor.draw.deviation = kDeviation;
    if (type_at(epilogue, DType::kS32, operand.step) != DType::kS32) continue;
    // In the unit of the sums, or per such a unit.
    const double unit = deviation_of(sums);
    tensor.draw.deviation = operand.draw ? operand.draw->deviation / unit : unit;
  }
}

// In the products of (a - zero) and b, the second factor is independent of the first and has mean 0. Given
// the first factors, a sum consists of independent values with absolute values of at most `most`: Bernstein's
// bound.
double largest_of_integers(const ProductSums& sums, std::int64_t count) {
  const double products = static_cast<double>(sums.products), second = deviation_of_second(sums);
  const double first = std::sqrt(kDeviation * kDeviation + squared_offset(sums).most);
  const double most = 255 * std::min(128.0, kLargestInput * second);
  const double variance = products * first * first * second * second;
  return std::min(gathered_bound(variance, most / 3, rarity_of(count)), products * most) / deviation_of(sums);
}

}  // namespace lehr
