// The one place where a feature gets its name and its value: the same calls fill a row and describe the
// table, so the two cannot drift apart. Internal to costmodel/.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Sign-preserving log2(1 + |x|): extents, counts and bytes span ten orders of magnitude (AutoTVM's
/// transform). In float, whose log2 takes half the time: a row has more than a hundred of them.
inline double log_scale(double x) {
  const float log = std::log2(static_cast<float>(1.0 + std::fabs(x)));
  return x >= 0 ? log : -log;
}
/// log2(a / b) within [-30, 30]; 0 where either is not positive.
inline double log_ratio(double a, double b) {
  if (!(a > 0) || !(b > 0)) return 0;
  return std::clamp(std::log2(static_cast<float>(a / b)), -30.0f, 30.0f);
}
/// a / b, or 0 where b is not positive.
inline double share_of(double a, double b) {
  return b > 0 ? a / b : 0;
}

/// Receives the columns in order. With `described` it also keeps their names; without, a column costs one
/// store.
class Columns {
 public:
  struct Description {
    std::string name;
    std::string_view unit;
    std::string_view meaning;
  };

  Columns(std::vector<float>& row, std::vector<Description>* described) : row_(row), described_(described) {}

  /// `unit` and `meaning` must be literals. Values that are not finite become 0, huge ones are clamped to
  /// 1e9.
  void add(std::string_view name, std::string_view unit, std::string_view meaning, double value) {
    put(value);
    if (described_ != nullptr) described_->push_back({std::string(name), unit, meaning});
  }
  /// A column of a repeated group: its name is `group` followed by `name`, as in "in0" + "_lanes".
  void add(std::string_view group, std::string_view name, std::string_view unit, std::string_view meaning,
           double value) {
    put(value);
    if (described_ != nullptr) {
      described_->push_back({std::string(group) + std::string(name), unit, meaning});
    }
  }

 private:
  void put(double value) {
    row_.push_back(std::isfinite(value) ? static_cast<float>(std::clamp(value, -1e9, 1e9)) : 0.0f);
  }

  std::vector<float>& row_;
  std::vector<Description>* described_;
};

}  // namespace lehr
