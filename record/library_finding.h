// A vendor library's search for its fastest algorithm for a problem: its limit and its result.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lehr {

/// The fastest of the algorithms that a library offers for a problem. Its numbers find the algorithm again in
/// the list of the same library version, where they are only looked up and compared.
struct FoundAlgorithm {
  std::int64_t algorithm = 0;  ///< its position in the library's list
  std::uint64_t mark = 0;      ///< hash of the library's own description of it
  std::int64_t tried = 0;      ///< number of algorithms tried, from the beginning of the list
  std::int64_t offered = 0;    ///< length of the list
  bool complete() const { return tried == offered; }
  friend bool operator==(const FoundAlgorithm&, const FoundAlgorithm&) = default;
};

/// The result of a baseline's search.
struct LibraryFinding {
  std::string library;  ///< name and version of the library: "cuDNN 9.19.0"
  /// One entry for each list of algorithms. A baseline that makes two library calls has two lists.
  std::vector<FoundAlgorithm> lists;
  friend bool operator==(const LibraryFinding&, const LibraryFinding&) = default;
};

/// Options of a library's search.
struct LibrarySearch {
  /// Time limit in seconds; at least one algorithm is tried. 0: no limit.
  double seconds = 0;
  /// Findings of earlier searches on this device, one for each version.
  std::vector<LibraryFinding> known = {};
  friend bool operator==(const LibrarySearch&, const LibrarySearch&) = default;
};

/// Numbers of algorithms, over all lists together.
struct AlgorithmCount {
  std::int64_t tried = 0, offered = 0;
};
inline AlgorithmCount algorithms_of(const LibraryFinding& finding) {
  AlgorithmCount count;
  for (const FoundAlgorithm& list : finding.lists) {
    count.tried += list.tried;
    count.offered += list.offered;
  }
  return count;
}

}  // namespace lehr
