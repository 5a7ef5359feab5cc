// CUDA architectures as limits: one table, a row for each.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace lehr {

/// Compute capability as a driver reports it: 9 and 0 for a Hopper.
struct CudaCapability {
  int major = 0, minor = 0;
};

/// Returns the limits of a CUDA architecture that need not be present, with the numbers of one of its cards:
/// "sm_75", "sm_80", "sm_90a", ... as in known_cuda_archs(). Throws Error(kUser) for an unknown arch, naming
/// the known ones.
Limits cuda_limits(std::string_view arch);
/// Returns all archs, oldest first. Of two spellings the one with more abilities is last.
std::vector<std::string> known_cuda_archs();

/// Returns the limits of a present card, by its driver's name for it. Its `arch` is the one to compile for:
/// "sm_90a" for 9.0. For an unknown minor version it is the one before it, whose code the card runs. nullopt
/// if no arch fits.
std::optional<Limits> cuda_card_limits(CudaCapability capability, std::string_view card);

/// Gives `limits` another peak rate of f32, and scales those of tensor cores in proportion: a card of the
/// same architecture with other clocks, or more multiprocessors.
void scale_rates(Limits& limits, double peak_gflops_f32);

}  // namespace lehr
