// CUDA architectures as limits: one table, a row for each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace lehr {

/// What a driver says of a device: 9 and 0 of a Hopper.
struct CudaCapability {
  int major = 0, minor = 0;
};

/// Limits of a CUDA architecture that need not be present, with the numbers of one card of it: "sm_75",
/// "sm_80", "sm_90a", ... as known_cuda_archs() has them. Throws Error(kUser) for an unknown arch, naming the
/// known ones.
Limits cuda_limits(std::string_view arch);
/// Oldest first; of two spellings the one with more abilities last.
std::vector<std::string> known_cuda_archs();

/// The same of a card that is there, by what its driver calls it: its `arch` is the one to compile for,
/// "sm_90a" of 9.0, and of a minor version that is not known the one before it, whose code it runs. nullopt
/// where none is.
std::optional<Limits> cuda_card_limits(CudaCapability capability, std::string_view card);

/// Gives `limits` another peak rate of f32, and those of tensor cores in proportion: a card of the same
/// architecture with other clocks, or more multiprocessors.
void scale_rates(Limits& limits, double peak_gflops_f32);

}  // namespace lehr
