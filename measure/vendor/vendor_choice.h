// Finds the fastest of a vendor library's algorithms for a problem, by our own clock.
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

/// The algorithms, in the library's order of preference.
struct VendorAlgorithms {
  std::string who;                 ///< begins the text of a fault
  std::vector<std::string> texts;  ///< the library's own words for each
  /// Makes one ready; nullopt: it cannot run.
  std::function<std::optional<CudaHarness::Call>(std::size_t)> call_of;
};

struct VendorChoice {
  FoundAlgorithm found;   ///< the fastest one whose result is right; the fastest one if none is
  bool right = false;     ///< whether its result is right
  bool recalled = false;  ///< whether an earlier search has found it, and nothing was searched now
  std::size_t wrong = 0;  ///< number of faster ones with wrong results

  std::size_t algorithm() const { return static_cast<std::size_t>(found.algorithm); }
  /// Returns "fastest of 16 algorithms" or "3 of 16 algorithms tried", for Checked::note.
  std::string text() const;
};

/// Takes a short look at each algorithm, then times the best eight in turn. If `known` is about this list,
/// nothing is searched again: only its algorithm's result is checked, and of a search that was cut the
/// remaining ones are tried. A search longer than `seconds` is cut (0: never). Returns nullopt if no
/// algorithm runs. Throws Error(kEnvironment) if an algorithm makes the device unusable.
std::optional<VendorChoice> choose_fastest(CudaHarness& harness, const VendorAlgorithms& algorithms,
                                           const std::optional<FoundAlgorithm>& known, double seconds);

/// Returns what `search` knows about the library's list number `list`.
std::optional<FoundAlgorithm> known_algorithm(const LibrarySearch& search, std::string_view library,
                                              std::size_t list);

}  // namespace lehr
