// A vendor library's search for its fastest algorithm to compute a problem: its limit, and what it found.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lehr {

/// The fastest of the algorithms that a library offers for a problem, as numbers that find it again in the
/// list of the same version. They are looked up there and compared, nothing more.
struct FoundAlgorithm {
  std::int64_t algorithm = 0;  ///< its place in the library's list
  std::uint64_t mark = 0;      ///< hash of the library's own words for it
  std::int64_t tried = 0;      ///< so many of the list, from its beginning
  std::int64_t offered = 0;    ///< length of the list
  bool complete() const { return tried == offered; }
  friend bool operator==(const FoundAlgorithm&, const FoundAlgorithm&) = default;
};

/// What a baseline's search found.
struct LibraryFinding {
  std::string library;  ///< with its version: "cuDNN 9.19.0"
  /// One for each list of algorithms: a baseline that makes two calls has two.
  std::vector<FoundAlgorithm> lists;
  friend bool operator==(const LibraryFinding&, const LibraryFinding&) = default;
};

/// How a library is to search.
struct LibrarySearch {
  double seconds = 0;  ///< it is cut after so long, but not before one algorithm was tried; 0: never
  std::vector<LibraryFinding> known = {};  ///< by earlier searches on this device, one for each version
  friend bool operator==(const LibrarySearch&, const LibrarySearch&) = default;
};

/// Of all lists together.
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
