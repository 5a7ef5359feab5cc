// A winner's kernel in the form that a library needs: with its name, its text, and the code that a GPU loads.
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
  std::string name;  ///< result of deployed_name()
  // For a processor:
  /// Features that the kernel's functions use, as features_of() returns them.
  std::vector<std::string> features;
  std::optional<SelfTest> test;  ///< the results that the kernel must compute; nullopt: not known
  // For a GPU:
  std::string cubin;     ///< compiled from renamed_text()
  std::string ptx;       ///< PTX for newer architectures; "": only this architecture can run the kernel
  CudaVersion compiler;  ///< version of the compiler
};

/// Returns the name of a kernel: its family and a hash. The hash is of everything that determines what the
/// kernel's function does: its source, and `compiler`, the identity of its compiler. Names must differ if
/// kernels differ, since a loader treats two libraries with one name as the same library.
std::string deployed_name(const Source& source, std::string_view compiler);
/// Returns the source's text with its functions renamed to `name`, `name`_prepack, ..., so that kernels of
/// one family can be linked together.
std::string renamed_text(const Source& source, const std::string& name);
/// Returns the old and new names of the source's functions, the entry first.
std::vector<std::pair<std::string, std::string>> renamed_functions(const Source& source,
                                                                   const std::string& name);
/// Returns the new names of the source's functions, the entry first.
std::vector<std::string> deployed_functions(const Source& source, const std::string& name);
/// Returns the source file's path within the folder.
std::string source_path(const FolderKernel& kernel);

/// Returns the words of a workload's text that can be left out without changing the workload.
std::string optional_words(const Workload& workload);
/// Returns other words that a workload's text may contain: shorter forms of its words ("pad=1" and "pad=1x1"
/// for "pad=1x1x1x1", "a=f32" for "a=f32:row"), and the default values of fields that it omits ("alpha=1").
std::string shorter_words(const Workload& workload);

/// Returns the kernels with names and features. Kernels for GPUs are compiled. FolderCompilers::why_not()
/// must return nullopt for all kernels.
std::vector<FolderKernel> prepared(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers);

/// Returns one winner for each kernel: the first of the winners that share the kernel and differ only in
/// threads or caches.
std::vector<std::reference_wrapper<const FolderKernel>> first_of_each_name(
    std::span<const FolderKernel> kernels);

}  // namespace lehr
