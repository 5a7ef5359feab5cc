// The fastest of the algorithms in which a vendor library can compute a problem, by our own clock.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "measure/cuda/cuda_harness.h"
#include "record/library_finding.h"

namespace lehr {

/// In the order in which the library prefers them.
struct VendorAlgorithms {
  std::string who;                 ///< begins the text of a fault
  std::vector<std::string> texts;  ///< the library's own words for each
  /// Makes one ready; nullopt: it cannot run.
  std::function<std::optional<CudaHarness::Call>(std::size_t)> call_of;
};

struct VendorChoice {
  FoundAlgorithm found;   ///< the fastest one whose result is right; the fastest one where none is
  bool right = false;     ///< whether its result is
  bool recalled = false;  ///< an earlier search has found it, and nothing was searched now
  std::size_t wrong = 0;  ///< faster ones whose results are wrong

  std::size_t algorithm() const { return static_cast<std::size_t>(found.algorithm); }
  /// "fastest of 16 algorithms", "3 of 16 algorithms tried": for Checked::note.
  std::string text() const;
};

/// A short look at each algorithm, then the best eight in turn. What `known` says of this very list is not
/// searched again: only its algorithm's result is checked, and of a search that was cut the rest is tried. A
/// search of more than `seconds` is cut (0: never). nullopt: none of the algorithms runs. Throws
/// Error(kEnvironment) when an algorithm takes the device with it.
std::optional<VendorChoice> choose_fastest(CudaHarness& harness, const VendorAlgorithms& algorithms,
                                           const std::optional<FoundAlgorithm>& known, double seconds);

/// What `search` knows of the library's list number `list`.
std::optional<FoundAlgorithm> known_algorithm(const LibrarySearch& search, std::string_view library,
                                              std::size_t list);

}  // namespace lehr
