// The winners as a folder that a program links, loads or reads: manifest.json, kernels, the library that runs
// them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codegen/source.h"
#include "deploy/folder_compilers.h"
#include "deploy/folder_files.h"
#include "deploy/rebuild.h"
#include "measure/cuda/cuda_driver.h"
#include "workload/workload.h"

namespace lehr {

/// One kernel of a folder.
struct FolderKernel {
  RebuiltKernel rebuilt;
  std::string name;                   ///< deployed_name()
  std::vector<std::string> features;  ///< of a processor, that its functions use: features_of()
  /// The bytes of its shared object or, for a GPU, of its machine code, compiled from deployed_text(); ""
  /// where there is its source alone.
  std::string library;
  // Of one for a GPU.
  std::string ptx;       ///< for newer ones; "": none but this architecture runs it
  CudaVersion compiler;  ///< what compiled it
};

/// Its family, and a hash of all that decides what its function does: its source, and `compiler`, the
/// identity of what compiles it. A loader takes two libraries of one name for the same one.
std::string deployed_name(const Source& source, std::string_view compiler);
/// The text to compile: the source's, whose functions are called `name`, `name`_prepack, ..., so that kernels
/// of one family can be linked together, behind what its target wants before them (deploy/deployment.h).
std::string deployed_text(const RebuiltKernel& kernel, const std::string& name);
/// The source's own text, whose functions are called `name`, `name`_prepack, ...
std::string renamed_text(const Source& source, const std::string& name);
/// The names of its functions there, the entry's first.
std::vector<std::string> deployed_functions(const Source& source, const std::string& name);

/// Within the folder.
std::string library_path(const FolderKernel& kernel);
std::string source_path(const FolderKernel& kernel);
std::string ptx_path(const FolderKernel& kernel);

/// Which words of a workload's text need not be said: without them it is the same workload.
std::string optional_words(const Workload& workload);
/// Other words that its text may have: shorter ones, "pad=1" and "pad=1x1" for "pad=1x1x1x1", "a=f32" for
/// "a=f32:row"; and usual values of fields that it leaves out, "alpha=1".
std::string shorter_words(const Workload& workload);

/// Named, with their features; those for GPUs compiled. All can be (FolderCompilers::why_not()).
std::vector<FolderKernel> prepared(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers);

/// manifest.json for these kernels, with the hashes of `files`, in one of which each kernel is and which
/// lehr_open() compares. The same kernels give the same bytes. `sets` name them by position; each that is
/// told the number of rows is in one.
std::string manifest_text(std::span<const FolderKernel> kernels, std::span<const RebuiltSet> sets,
                          std::span<const FolderFile> files, std::string_view tool_version);

/// The kernels' files, each once: shared objects, GPUs' machine code and PTX.
std::vector<FolderFile> libraries_of(std::span<const FolderKernel> kernels);
/// Of winners that share a kernel (they differ in threads or caches alone) the first.
std::vector<std::reference_wrapper<const FolderKernel>> first_of_each_name(
    std::span<const FolderKernel> kernels);

/// Whether a folder holds a manifest of a bundle.
bool is_bundle_folder(const std::string& path);

}  // namespace lehr
