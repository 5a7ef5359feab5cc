// Computes a feature row from a kernel: fixed length, named columns, without compiling the kernel.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "ir/analyze.h"
#include "ir/kernel.h"

namespace lehr {

struct FeatureInfo {
  std::string_view name;
  std::string_view unit;
  std::string_view meaning;  ///< one line
};

/// Version of the columns, which is stored with models and rows. Must be increased when a column changes its
/// meaning or position, or when columns are added or removed.
inline constexpr int kFeatureVersion = 6;

/// Returns the columns, in order.
std::span<const FeatureInfo> feature_table();

/// Returns one value per column, all finite. A pure function that takes at most some tens of microseconds.
std::vector<float> featurize(const ir::Kernel& kernel, const Limits& limits);
/// Does the same, and writes the values to `row`, which must have one element per column.
void featurize(const ir::Kernel& kernel, const Limits& limits, std::span<float> row);
/// Does the same with an existing analysis, which must be that of `kernel`.
std::vector<float> featurize(const ir::Analysis& analysis, const ir::Kernel& kernel, const Limits& limits);

/// Returns the position of the column with this name. Throws Error(kUser) for an unknown name.
std::size_t feature_index(std::string_view name);

/// Rows of equal length, row-major.
class FeatureMatrix {
 public:
  explicit FeatureMatrix(std::size_t columns) : columns_(columns) {}
  void reserve(std::size_t rows) { values_.reserve(rows * columns_); }
  void append(std::span<const float> row);
  std::size_t rows() const { return columns_ == 0 ? 0 : values_.size() / columns_; }
  std::size_t columns() const { return columns_; }
  const float* data() const { return values_.data(); }
  std::span<const float> row(std::size_t i) const { return {values_.data() + i * columns_, columns_}; }

 private:
  std::size_t columns_;
  std::vector<float> values_;
};

}  // namespace lehr
