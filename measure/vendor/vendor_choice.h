// The fastest of the ways in which a vendor library can compute a problem, by our own clock.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "measure/cuda/cuda_harness.h"

namespace lehr {

struct VendorChoice {
  std::size_t way = 0;    ///< the fastest one whose result is right; the fastest one where none is
  std::size_t tried = 0;  ///< those that were reached in time
  std::size_t wrong = 0;  ///< faster ones whose results are wrong
};

/// Times ways 0 to `ways` - 1, in the order in which the library prefers them: a short look at each, then the
/// best eight in turn. `call_of` makes a way ready; nullopt: it cannot run. After `screening_s` seconds the
/// rest, which the library itself expects to be slower, is not tried. nullopt: none of them runs. Throws
/// Error(kEnvironment) when a way takes the device with it. `who` begins the text of a fault.
std::optional<VendorChoice> choose_fastest(
    CudaHarness& harness, std::size_t ways,
    const std::function<std::optional<CudaHarness::Call>(std::size_t)>& call_of, double screening_s,
    const std::string& who);

}  // namespace lehr
