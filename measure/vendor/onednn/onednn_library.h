// Which oneDNN is here.
#pragma once

#include <span>
#include <string>

namespace lehr::onednn {

struct OneDnnLibrary {
  void* handle = nullptr;  ///< dlopen's; stays open
  std::string path;        ///< the name or file that was loaded
  std::string version;     ///< "3.2.0"
  int major = 0;           ///< 2 or 3
  /// The instruction set that it says it uses, in its own words: "avx512_core_bf16"; "" where it does not
  /// tell.
  std::string instruction_set() const;
};

/// The newest of version 2 or 3 where the loader looks and in `folders`. Throws Error(kEnvironment) when
/// there is none.
OneDnnLibrary open_library(std::span<const std::string> folders = {});

}  // namespace lehr::onednn
