// The only place where a feature gets its name and its value. The same calls fill a row and describe the
// table, so that the two always agree. Internal to costmodel/.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Returns log2(1 + |x|) with the sign of x (AutoTVM's transform). Extents, counts and bytes span ten orders
/// of magnitude. It is computed in float, whose log2 takes half the time: a row has more than a hundred such
/// values.
inline double log_scale(double x) {
  const float log = std::log2(static_cast<float>(1.0 + std::fabs(x)));
  return x >= 0 ? log : -log;
}
/// Returns log2(a / b), limited to [-30, 30]; 0 if a or b is not positive.
inline double log_ratio(double a, double b) {
  if (!(a > 0) || !(b > 0)) return 0;
  return std::clamp(std::log2(static_cast<float>(a / b)), -30.0f, 30.0f);
}
/// Returns a / b, or 0 if b is not positive.
inline double share_of(double a, double b) {
  return b > 0 ? a / b : 0;
}

/// Receives the columns in order: their values, or their descriptions. Adding a value is a single store;
/// texts are not even concatenated.
class Columns {
 public:
  struct Description {
    std::string name;
    std::string_view unit;
    std::string_view meaning;
  };

  /// Fills `row`, which must have an element for every column.
  explicit Columns(std::span<float> row) : next_(row.data()), end_(row.data() + row.size()) {}
  explicit Columns(std::vector<Description>& described) : described_(&described) {}

  /// Adds a column. `unit` and `meaning` must be literals. Values that are not finite become 0, and values
  /// are limited to an absolute value of 1e9.
  [[gnu::always_inline]] void add(std::string_view name, std::string_view unit, std::string_view meaning,
                                  double value) {
    add({}, name, unit, meaning, value);
  }
  /// Adds a column of a group that occurs several times. Its name is `group` followed by `name`, e.g. "in0" +
  /// "_lanes".
  [[gnu::always_inline]] void add(std::string_view group, std::string_view name, std::string_view unit,
                                  std::string_view meaning, double value) {
    if (described_ != nullptr) [[unlikely]]
      return describe(group, name, unit, meaning);
    if (next_ == end_) [[unlikely]]
      fail();
    *next_++ = std::isfinite(value) ? static_cast<float>(std::clamp(value, -1e9, 1e9)) : 0.0f;
  }

  /// Returns whether every element of the row has its value.
  bool full() const { return next_ == end_; }

 private:
  void describe(std::string_view group, std::string_view name, std::string_view unit,
                std::string_view meaning);
  [[noreturn]] static void fail();

  float* next_ = nullptr;
  float* end_ = nullptr;
  std::vector<Description>* described_ = nullptr;
};

}  // namespace lehr
