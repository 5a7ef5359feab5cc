// Keeps the binaries of the fastest candidates so far, so that the finals need not compile them again.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "measure/core/compiler.h"

namespace lehr {

/// Owns the files of at most `most` binaries, and of all pinned binaries. Two sources with the same text
/// count as one.
class KeptBinaries {
 public:
  explicit KeptBinaries(std::size_t most) : most_(most) {}
  ~KeptBinaries() { clear(); }
  KeptBinaries(const KeptBinaries&) = delete;
  KeptBinaries& operator=(const KeptBinaries&) = delete;

  /// Takes over the binary's file. Deletes it if there are `most` faster binaries, or if `source` already has
  /// one. `pinned`: the file stays until clear(), however slow the kernel is.
  void keep(const Source& source, Binary binary, double time_us, bool pinned);
  /// Returns the source's binary, valid until the next call of keep() or clear(); nullptr: none is kept.
  const Binary* find(const Source& source) const;
  /// Deletes all files.
  void clear();

 private:
  struct Kept {
    std::string text;
    Binary binary;
    double time_us = 0;
    bool pinned = false;
  };

  std::size_t most_;
  std::vector<Kept> kept_;
};

}  // namespace lehr
