// The targets for which kernels are made. Each is a row of a table here. Other layers have tables in the same
// order for what they need to know of a target: its archs and dialect in target/, its machine in costmodel/,
// its compiler and runner in measure/.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// Features of the kernels of a target. Code that calls has() instead of naming a target is ready for the
/// next target.
enum class Feature : std::uint8_t {
  /// A kernel is a function with scratch memory, which is called for each work item of its parallel loops.
  /// There may be a second function, for prepacking.
  kHostFunction = 1 << 0,
  /// A kernel is a grid of blocks of threads, which have shared memory and barriers.
  kBlocks = 1 << 1,
  /// Products that are less exact than strict f32 run on other units than f32 products.
  kTensorCores = 1 << 2,
  /// Limits::l2_bytes is the cache of one core, not of the chip.
  kL2PerCore = 1 << 3,
  /// Limits::cores counts threads, and the user chooses their number.
  kChosenCores = 1 << 4,
};

struct TargetRow {
  std::string_view name;       ///< in logs, flags and messages: "cuda"
  std::string_view title;      ///< in sentences: "CUDA"
  std::string_view core_word;  ///< what Limits::cores counts: "SMs"
  unsigned features = 0;       ///< values of Feature, or-ed
};

/// A row of the table of targets. It is copied and compared like a number.
class Target {
 public:
  /// Makes the first row.
  constexpr Target() = default;
  static const Target kCpu, kCuda;

  constexpr const TargetRow* operator->() const;
  constexpr bool has(Feature feature) const;
  /// Returns the position of the target's row in the table of each layer.
  constexpr std::size_t index() const { return index_; }
  friend constexpr bool operator==(Target, Target) = default;

 private:
  constexpr explicit Target(std::uint8_t index) : index_(index) {}
  std::uint8_t index_ = 0;
};

inline constexpr Target Target::kCpu{0}, Target::kCuda{1};

/// All targets, in the order of the tables.
inline constexpr std::array kTargets = {Target::kCpu, Target::kCuda};

namespace target_table {
constexpr unsigned all(std::initializer_list<Feature> features) {
  unsigned bits = 0;
  for (const Feature feature : features) bits |= static_cast<unsigned>(feature);
  return bits;
}
inline constexpr std::array kRows = {
    TargetRow{"cpu", "CPU", "threads",
              all({Feature::kHostFunction, Feature::kL2PerCore, Feature::kChosenCores})},
    TargetRow{"cuda", "CUDA", "SMs", all({Feature::kBlocks, Feature::kTensorCores})},
};
static_assert(kRows.size() == kTargets.size());
}  // namespace target_table

constexpr const TargetRow* Target::operator->() const {
  return &target_table::kRows[index_];
}
constexpr bool Target::has(Feature feature) const {
  return ((*this)->features & static_cast<unsigned>(feature)) != 0;
}

constexpr std::string_view name_of(Target target) {
  return target->name;
}
/// Returns nullopt for a name that this version does not know, because a log may come from a newer version.
std::optional<Target> target_named(std::string_view name);
/// Returns the names of all targets, in order.
std::vector<std::string> target_names();

}  // namespace lehr
