// The winners as a folder that a program links, loads or reads: manifest.json, kernels, the library that runs
// them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/source.h"
#include "deploy/folder_files.h"
#include "deploy/winners.h"
#include "workload/workload.h"

namespace lehr {

/// One kernel of a folder.
struct FolderKernel {
  Workload workload;
  Winner winner;
  Source source;
  std::vector<int> prepack_reads;  ///< parameters that prepacking reads
  int threads = 1;                 ///< that it was tuned with
  bool cold = false;               ///< tuned with cold caches
  std::vector<std::string>
      features;         ///< processor features that it was compiled for (deploy/runtime/cpu_features.h)
  std::string library;  ///< the bytes of its shared object, compiled from deployed_text()
};

/// Which parameters of a kernel its prepack reads, by their number.
std::vector<int> prepack_reads(const ir::Kernel& kernel);

/// A name that no other kernel has: its family, and a hash of all that decides what its function does.
std::string deployed_name(const Source& source);
/// The text to compile: the source's, whose functions are called `deployed_name`, `deployed_name`_prepack,
/// ..., so that kernels of one family can be linked together.
std::string deployed_text(const Source& source);

/// Of the names of macros that a compiler defines, the features that it uses.
std::vector<std::string> features_of(std::span<const std::string> macros);

/// Which words of a workload's text need not be said: without them it is the same workload.
std::string words_by_default(const Workload& workload);
/// Shorter words for those of its text: "pad=1" and "pad=1x1" for "pad=1x1x1x1", "a=f32" for "a=f32:row".
std::string shorter_words(const Workload& workload);

/// Sizes of a GEMM or batch that may answer for smaller ones with padding: `field` and its values.
struct Buckets {
  std::string field;
  std::vector<std::int64_t> values;
};

/// manifest.json for these kernels, with the hashes of `files`, which lehr_open() compares, and of the
/// library, which is loaded before it can compare anything. The same kernels give the same bytes.
std::string manifest_text(std::span<const FolderKernel> kernels, std::span<const FolderFile> files,
                          const FolderFile& library, std::span<const Buckets> buckets,
                          std::string_view tool_version);

/// The kernels' files: sources, and shared objects, which are to be in the manifest.
std::vector<FolderFile> sources_of(std::span<const FolderKernel> kernels);
std::vector<FolderFile> libraries_of(std::span<const FolderKernel> kernels);

/// Whether a folder holds a manifest of a bundle.
bool is_bundle_folder(const std::string& path);

}  // namespace lehr
