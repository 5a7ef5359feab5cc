// A winner as a library has it: its names, its text, what a GPU loads.
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
  // Where it is for a processor:
  std::vector<std::string> features;  ///< that its functions use: features_of()
  std::optional<SelfTest> test;       ///< what it has to compute; nullopt: that is not known
  // Where it is for a GPU:
  std::string cubin;     ///< compiled from renamed_text()
  std::string ptx;       ///< for newer ones; "": none but this architecture runs it
  CudaVersion compiler;  ///< what compiled it
};

/// Its family, and a hash of all that decides what its function does: its source, and `compiler`, the
/// identity of what compiles it. A loader takes two libraries of one name for the same one.
std::string deployed_name(const Source& source, std::string_view compiler);
/// The source's own text, whose functions are called `name`, `name`_prepack, ..., so that kernels of one
/// family can be linked together.
std::string renamed_text(const Source& source, const std::string& name);
/// The names of its functions before, and there; the entry's first.
std::vector<std::pair<std::string, std::string>> renamed_functions(const Source& source,
                                                                   const std::string& name);
/// The names of its functions there, the entry's first.
std::vector<std::string> deployed_functions(const Source& source, const std::string& name);
/// Within the folder.
std::string source_path(const FolderKernel& kernel);

/// Which words of a workload's text need not be said: without them it is the same workload.
std::string optional_words(const Workload& workload);
/// Other words that its text may have: shorter ones, "pad=1" and "pad=1x1" for "pad=1x1x1x1", "a=f32" for
/// "a=f32:row"; and usual values of fields that it leaves out, "alpha=1".
std::string shorter_words(const Workload& workload);

/// Named, with their features; those for GPUs compiled. All can be (FolderCompilers::why_not()).
std::vector<FolderKernel> prepared(std::span<const RebuiltKernel> kernels, FolderCompilers& compilers);

/// Of winners that share a kernel (they differ in threads or caches alone) the first.
std::vector<std::reference_wrapper<const FolderKernel>> first_of_each_name(
    std::span<const FolderKernel> kernels);

}  // namespace lehr
