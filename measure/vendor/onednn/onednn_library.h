// Finds the installed oneDNN.
#pragma once

#include <span>
#include <string>

namespace lehr::onednn {

struct OneDnnLibrary {
  void* handle = nullptr;  ///< result of dlopen; never closed
  std::string path;        ///< the name or file that was loaded
  std::string version;     ///< "3.2.0"
  int major = 0;           ///< 2 or 3
  /// Returns the instruction set that the library reports to use, in its own words: "avx512_core_bf16".
  /// Returns "" if it does not report one.
  std::string instruction_set() const;
};

/// Opens the newest library of version 2 or 3 where the loader looks and in `folders`. Throws
/// Error(kEnvironment) if no library is found.
OneDnnLibrary open_library(std::span<const std::string> folders = {});

}  // namespace lehr::onednn
