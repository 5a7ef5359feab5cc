// What the processor can run, by the names of compilers' flags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lehr::runtime {

/// One that a compiler may use: GCC's and clang's name of its flag, and the macro that they define when it is
/// on. The exporter asks the compiler by the macros what a kernel was compiled for; the runtime asks the
/// processor.
struct CpuFeature {
  std::string_view name;
  const char* macro;
};

/// "x86_64", "aarch64": what this was compiled for.
std::string_view cpu_machine();

/// Those of the architecture that this was compiled for; at most 64. Of aarch64 there are none: its kernels
/// use what every one of these processors has.
std::size_t cpu_feature_count();
const CpuFeature& cpu_feature(std::size_t index);

/// A bit per feature, in the order above.
using CpuFeatures = std::uint64_t;

/// Those that this processor and its operating system serve.
CpuFeatures cpu_features_here();
/// The bit of a name; 0 for one that is not known.
CpuFeatures cpu_feature_named(std::string_view name);
/// The name of this machine's highest level that needs none but these; "": it has no levels.
std::string_view highest_cpu_level(CpuFeatures features);

}  // namespace lehr::runtime
