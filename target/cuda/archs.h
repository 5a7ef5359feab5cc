// CUDA architectures as limits.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"

namespace lehr {

/// Limits of a CUDA architecture that need not be present: "sm_80", "sm_89", "sm_90", "sm_90a".
/// Throws Error(kUser) for an unknown arch, naming the known ones.
Limits cuda_limits(std::string_view arch);
std::vector<std::string> known_cuda_archs();

}  // namespace lehr
