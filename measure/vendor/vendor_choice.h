// Finds the fastest of a vendor library's algorithms for a problem, timed by our own clock.
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
  std::string who;                 ///< first words of the text of a fault
  std::vector<std::string> texts;  ///< the library's own description of each algorithm
  /// Makes the algorithm at a position ready to be called; nullopt: it cannot run.
  std::function<std::optional<CudaHarness::Call>(std::size_t)> call_of;
};

struct VendorChoice {
  /// The fastest algorithm whose result is right; if no result is right, the fastest of all.
  FoundAlgorithm found;
  bool right = false;     ///< whether its result is right
  bool recalled = false;  ///< whether an earlier search found it, and nothing was searched now
  std::size_t wrong = 0;  ///< number of faster algorithms with wrong results

  std::size_t algorithm() const { return static_cast<std::size_t>(found.algorithm); }
  /// Returns text for Checked::note: "fastest of 16 algorithms" or "3 of 16 algorithms tried".
  std::string text() const;
};

/// Times each algorithm briefly, then times the best eight in turn. If `known` is the result of a search of
/// the same list, the list is not searched again: only the result of the known algorithm is checked. If that
/// search was cut short, the remaining algorithms are tried. A search that takes longer than `seconds` is cut
/// short (0: no limit). Returns nullopt if no algorithm runs. Throws Error(kEnvironment) if an algorithm
/// makes the device unusable.
std::optional<VendorChoice> choose_fastest(CudaHarness& harness, const VendorAlgorithms& algorithms,
                                           const std::optional<FoundAlgorithm>& known, double seconds);

/// Returns the log's finding about list `list` of `library` in `search`.
std::optional<FoundAlgorithm> known_algorithm(const LibrarySearch& search, std::string_view library,
                                              std::size_t list);

}  // namespace lehr
