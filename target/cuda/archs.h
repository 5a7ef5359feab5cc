// CUDA architectures as limits: a table with one row per architecture.
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

/// Returns the limits of a CUDA architecture ("sm_75", "sm_80", "sm_90a", ... as in known_cuda_archs()) with
/// the numbers of one of its cards. No such card need be present. Throws Error(kUser) for an unknown arch;
/// the message lists the known ones.
Limits cuda_limits(std::string_view arch);
/// Returns all archs, oldest first. If an arch has two spellings, the one with more abilities comes last.
std::vector<std::string> known_cuda_archs();

/// Returns the limits of a present card, given the name that its driver reports. `arch` is the architecture
/// to compile for, e.g. "sm_90a" for 9.0. For an unknown minor version it is the next lower known one, whose
/// code the card can run. Returns nullopt if no arch fits.
std::optional<Limits> cuda_card_limits(CudaCapability capability, std::string_view card);

/// Sets the peak rate of f32 in `limits`, and scales the rates of the tensor cores in proportion. For a card
/// of the same architecture with other clocks or more multiprocessors.
void scale_rates(Limits& limits, double peak_gflops_f32);

}  // namespace lehr
