// Winners -> the files of a folder, compiled.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "deploy/bundle_folder.h"
#include "deploy/folder_compilers.h"
#include "deploy/rebuild.h"

namespace lehr {

struct FolderOptions {
  std::vector<Buckets> buckets;
  std::string tool_version;
  /// Sources, to be compiled by whoever takes them; GPUs' code is in the table of functions.
  bool embed = false;
};

/// Whether such a folder can hold the kernel: it can be compiled here (FolderCompilers::why_not()), or its
/// source is enough.
bool can_hold(const RebuiltKernel& kernel, FolderCompilers& compilers, const FolderOptions& options);

/// Everything of a bundle's folder, manifest.json among it: compiles the kernels, all of which it can_hold()
/// and each of which that is told the number of rows is in a set, and the library for any processor of this
/// architecture. The same kernels and compilers give the same bytes. Throws Error(kEnvironment) where a
/// compiler fails.
std::vector<FolderFile> export_folder(std::span<const RebuiltKernel> kernels,
                                      std::span<const RebuiltSet> sets, FolderCompilers& compilers,
                                      const FolderOptions& options);

/// Throws Error(kUser) for a size of `buckets` that none of these kernels has.
void check_buckets(std::span<const RebuiltKernel> kernels, std::span<const Buckets> buckets);

}  // namespace lehr
