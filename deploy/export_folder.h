// Kernels -> the folder that the plug-in opens, compiled.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "deploy/bundle_folder.h"
#include "deploy/folder_compilers.h"
#include "deploy/rebuild.h"

namespace lehr {

/// manifest.json and what it names: compiles the kernels, each of which that is told the number of rows is in
/// a set. The same kernels and compilers give the same bytes. Throws Error(kEnvironment) where a compiler
/// fails.
std::vector<FolderFile> export_folder(std::vector<FolderKernel> kernels, std::span<const RebuiltSet> sets,
                                      FolderCompilers& compilers, std::string_view tool_version);

}  // namespace lehr
