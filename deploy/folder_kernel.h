// A winner in the form that a library needs: its names, its text, the code that a GPU loads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "codegen/source.h"
#include "deploy/folder_compilers.h"
#include "deploy/folder_files.h"
#include "deploy/rebuild.h"
#include "deploy/self_test.h"
#include "measure/cuda/cuda_driver.h"
#include "workload/workload.h"

namespace lehr {

/// One kernel of a folder.
struct FolderKernel {
  RebuiltKernel rebuilt;
  std::string name;  ///< deployed_name()
  // For a processor:
  std::vector<std::string> features;  ///< features that its functions use: features_of()
  std::optional<SelfTest> test;       ///< the results that it must give; nullopt: not known
  // For a GPU:
  std::string cubin;     ///< compiled from renamed_text()
  std::string ptx;       ///< for newer architectures; "": only this architecture runs it
  CudaVersion compiler;  ///< version of its compiler
};

/// Returns its family and a hash of all that decides what its function does: its source, and `compiler`, the
/// identity of its compiler. A loader takes two libraries with one name for the same one.
std::string deployed_name(const Source& source, std::string_view compiler);
/// Returns the source's text with its functions called `name`, `name`_prepack, ..., so that kernels of one
/// family can be linked together.
std::string renamed_text(const Source& source, const std::string& name);
/// Returns the old and new names of its functions, the entry's first.
std::vector<std::pair<std::string, std::string>> renamed_functions(const Source& source,
                                                                   const std::string& name);
/// Returns the new names of its functions, the entry's first.
std::vector<std::string> deployed_functions(const Source& source, const std::string& name);
/// Returns the source file's path within the folder.
std::string source_path(const FolderKernel& kernel);

/// Returns the words of a workload's text that may be left out without changing the workload.
std::string optional_words(const Workload& workload);
/// Returns other words that its text may have: shorter ones, "pad=1" and "pad=1x1" for "pad=1x1x1x1", "a=f32"
/// for "a=f32:row"; and usual values of fields that it leaves out, "alpha=1".
std::string shorter_words(const Workload& workload);

/// Returns kernels with names and features, those for GPUs compiled. All must be possible
/// (FolderCompilers::why_not()).
std::vector<FolderKernel> prepared(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers);

/// Returns the first of the winners that share a kernel (they only differ in threads or caches).
std::vector<std::reference_wrapper<const FolderKernel>> first_of_each_name(
    std::span<const FolderKernel> kernels);

}  // namespace lehr
