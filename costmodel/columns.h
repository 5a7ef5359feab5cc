// The one place where a feature gets its name and its value. The same calls fill a row and describe the
// table, so the two cannot drift apart. Internal to costmodel/.
#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Returns sign-preserving log2(1 + |x|): extents, counts and bytes span ten orders of magnitude (AutoTVM's
/// transform). Computed in float, whose log2 takes half the time: a row has more than a hundred of them.
inline double log_scale(double x) {
  const float log = std::log2(static_cast<float>(1.0 + std::fabs(x)));
  return x >= 0 ? log : -log;
}
/// Returns log2(a / b) within [-30, 30]; 0 if either is not positive.
inline double log_ratio(double a, double b) {
  if (!(a > 0) || !(b > 0)) return 0;
  return std::clamp(std::log2(static_cast<float>(a / b)), -30.0f, 30.0f);
}
/// Returns a / b, or 0 if b is not positive.
inline double share_of(double a, double b) {
  return b > 0 ? a / b : 0;
}

/// Receives the columns in order: either their values or their descriptions. Adding a value is one store: the
/// texts are not even put together.
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

  /// Adds a column. `unit` and `meaning` must be literals. Values that are not finite become 0, huge ones are
  /// clamped to 1e9.
  [[gnu::always_inline]] void add(std::string_view name, std::string_view unit, std::string_view meaning,
                                  double value) {
    add({}, name, unit, meaning, value);
  }
  /// Adds a column of a repeated group. Its name is `group` followed by `name`, as in "in0" + "_lanes".
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
