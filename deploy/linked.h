// A bundle as a part of the program: its table of functions, and what builds it from sources.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "deploy/bundle_folder.h"

namespace lehr {

/// sources/lehr_linked.cpp, which defines lehr_linked_bundle (lehr_bundle.h).
std::string linked_text(std::span<const FolderKernel> kernels, const std::string& manifest);

/// CMakeLists.txt of the folder: add_subdirectory(FOLDER) gives lehr_bundle::linked, compiled from the
/// sources, each kernel's with these flags and those of its features.
std::string linked_cmake(std::span<const FolderKernel> kernels, const std::vector<std::string>& flags);

}  // namespace lehr
