// The groups of columns of a feature row, in order, and the values that they all read. Internal to
// costmodel/.
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "base/local_arena.h"
#include "costmodel/columns.h"
#include "costmodel/kernel_view.h"
#include "costmodel/memory_model.h"
#include "costmodel/text_walk.h"

namespace lehr {

/// Cache levels of the features. On CUDA the middle level is the same cache as the first, and the last level
/// is the L2.
enum class CacheLevel { kL1, kL2, kLast };
inline constexpr std::array<std::string_view, 3> kCacheLevelNames = {"l1", "l2", "llc"};

/// All values that the sections read, computed once per row.
class FeatureContext {
  LocalArena<24 << 10> arena_;  // memory of the other members; enough for most kernels

 public:
  FeatureContext(const ir::Analysis& analysis, const ir::Kernel& kernel, const Limits& limits);
  FeatureContext(const FeatureContext&) = delete;
  FeatureContext& operator=(const FeatureContext&) = delete;

  TextFacts text;
  KernelView view;  ///< refers to text
  CachedAccesses cached;
  MemoryModel core;  ///< traffic as the private caches of a core see it
  /// Returns the traffic as the shared cache sees it.
  const MemoryModel& chip() const { return several_ ? *several_ : core; }
  std::array<double, 3> capacity;  ///< bytes per CacheLevel
  std::array<MemoryModel::Traffic, 3> traffic;

 private:
  // Empty for one work item, where the view of its core is that of the whole chip.
  std::optional<MemoryModel> several_;
};

/// Adds sums over the whole kernel: flops, bytes, intensities, size of the text (loop_features.cpp).
void add_kernel_columns(const FeatureContext& context, Columns& columns);
/// Adds the sequential loops of the main chain, innermost first, and the concurrent and thread loops
/// (loop_features.cpp).
void add_loop_columns(const FeatureContext& context, Columns& columns);
/// Adds the uses of the buffers of each role (buffer_features.cpp).
void add_buffer_columns(const FeatureContext& context, Columns& columns);
/// Adds context-relation curves (relation_features.cpp).
void add_relation_columns(const FeatureContext& context, Columns& columns);
/// Adds working sets and traffic per cache level (memory_features.cpp).
void add_memory_columns(const FeatureContext& context, Columns& columns);
/// Adds occupancy, waves, registers, coalescing, bank conflicts (hardware_features.cpp).
void add_hardware_columns(const FeatureContext& context, Columns& columns);

}  // namespace lehr
