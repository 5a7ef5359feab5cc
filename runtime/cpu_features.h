// The features of a processor, with the names of compilers' flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lehr::runtime {

/// A feature that a compiler may use: the name of its flag in GCC and clang, and the macro that they define
/// if the feature is on. The exporter learns from the macros which features a kernel was compiled for. The
/// runtime asks the processor which features it has.
struct CpuFeature {
  std::string_view name;
  const char* macro;
};

/// Returns the architecture that this was compiled for: "x86_64" or "aarch64".
std::string_view cpu_machine();

/// Return the features of the architecture that this was compiled for; at most 64. aarch64 has no features
/// here: its kernels use only what every such processor has.
std::size_t cpu_feature_count();
const CpuFeature& cpu_feature(std::size_t index);

/// A set of features: bit i stands for cpu_feature(i).
using CpuFeatures = std::uint64_t;

/// Returns the features that this processor and its operating system support.
CpuFeatures cpu_features_here();
/// Returns the bit of the feature with this name; 0 if the name is not known.
CpuFeatures cpu_feature_named(std::string_view name);
/// Returns the highest level of this machine's architecture that needs only these features; "" if there is no
/// such level.
std::string_view highest_cpu_level(CpuFeatures features);

}  // namespace lehr::runtime
