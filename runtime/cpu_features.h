// The features of a processor, by the names of compilers' flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lehr::runtime {

/// A feature that a compiler may use: the name of its flag in GCC and clang, and the macro that they define
/// if it is on. The exporter asks the compiler by the macros what a kernel was compiled for; the runtime asks
/// the processor.
struct CpuFeature {
  std::string_view name;
  const char* macro;
};

/// Returns "x86_64" or "aarch64": what this was compiled for.
std::string_view cpu_machine();

/// Return the features of the architecture that this was compiled for; at most 64. aarch64 has none: its
/// kernels use what every such processor has.
std::size_t cpu_feature_count();
const CpuFeature& cpu_feature(std::size_t index);

/// A bit per feature, in the order above.
using CpuFeatures = std::uint64_t;

/// Returns the features that this processor and its operating system support.
CpuFeatures cpu_features_here();
/// Returns the bit of a name; 0 for an unknown one.
CpuFeatures cpu_feature_named(std::string_view name);
/// Returns this machine's highest level that needs only these features; "" if it has no levels.
std::string_view highest_cpu_level(CpuFeatures features);

}  // namespace lehr::runtime
