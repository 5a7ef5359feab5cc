// Winners for the CPU -> the files of a folder, compiled.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "deploy/bundle_folder.h"
#include "deploy/rebuild.h"
#include "measure/host/host_compiler.h"

namespace lehr {

struct FolderOptions {
  /// The one that the winners were measured with. Each is compiled with the `march` of its own.
  HostCompilerOptions compiler;
  std::vector<Buckets> buckets;
  std::string tool_version;
  bool embed = false;  ///< sources alone, to be compiled by whoever takes them
};

/// Everything of a bundle's folder, manifest.json among it: compiles the kernels as they were compiled when
/// they were measured, and the library for any processor of this architecture. The same kernels and compiler
/// give the same bytes. Throws Error(kEnvironment) where the compiler fails.
std::vector<FolderFile> export_folder(std::span<const RebuiltKernel> kernels, const FolderOptions& options);

/// Throws Error(kUser) for a size of `buckets` that none of these kernels has.
void check_buckets(std::span<const RebuiltKernel> kernels, std::span<const Buckets> buckets);

/// The -march that a winner was measured with: "native", or a level.
std::string march_of(const RebuiltKernel& kernel);

/// Why a kernel cannot go into a folder that is made here, as the end of a sentence: it is for another
/// target, or was measured with another compiler than `identity`'s, that of the one at hand with march_of().
/// nullopt: it can.
std::optional<std::string> why_not_in_folder(const RebuiltKernel& kernel, const std::string& identity);

}  // namespace lehr
