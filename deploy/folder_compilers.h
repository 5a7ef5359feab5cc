// What compiles the kernels of a folder: each as it was compiled when it was measured.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "deploy/rebuild.h"
#include "measure/cuda/nvrtc.h"
#include "measure/host/host_compiler.h"

namespace lehr {

struct CompilerOptions {
  HostCompilerOptions host;                     ///< each kernel is compiled with the `isa` of its own
  std::vector<std::string> gpu_libraries = {};  ///< where NVRTC lies besides the loader's own folders
  const Compiler* tuned = nullptr;              ///< whose kept objects are taken; nullptr: all are compiled
};

/// Compilers, each made when the first kernel needs it.
class FolderCompilers {
 public:
  explicit FolderCompilers(CompilerOptions options) : options_(std::move(options)) {}

  /// Why a kernel cannot be compiled here as it was measured, as the end of a sentence: with another
  /// compiler, or one that is not here. nullopt: it can.
  std::optional<std::string> why_not(const RebuiltKernel& kernel);

  /// Of a kernel for processors. Throws Error(kEnvironment) where there is no compiler, or it does not know
  /// what it was measured as.
  HostCompiler& host(const Isa& isa);
  /// The object file that was kept of a kernel when it was measured; "": none.
  std::string kept_object(const RebuiltKernel& kernel) const;
  /// Of a kernel for GPUs; nullptr with the reason where there is none.
  NvrtcCompiler* gpu(const RebuiltKernel& kernel, std::string& reason);

  const CompilerOptions& options() const { return options_; }

 private:
  CompilerOptions options_;
  std::map<std::string, HostCompiler> hosts_;                   ///< by the name of their Isa
  std::map<std::string, std::unique_ptr<NvrtcCompiler>> gpus_;  ///< by identity
};

}  // namespace lehr
