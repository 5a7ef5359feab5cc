// Compiles the kernels of a folder, each as it was compiled when it was measured.
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
  HostCompilerOptions host;                     ///< each kernel is compiled with its own `isa`
  std::vector<std::string> gpu_libraries = {};  ///< where NVRTC is, besides the loader's own folders
  /// Compiler whose kept objects are taken; nullptr: all kernels are compiled.
  const Compiler* tuned = nullptr;
};

/// The compilers. Each is made when the first kernel needs it.
class FolderCompilers {
 public:
  explicit FolderCompilers(CompilerOptions options) : options_(std::move(options)) {}

  /// Explains, as the end of a sentence, why a kernel cannot be compiled here as it was measured: its
  /// compiler was another one, or is missing. Returns nullopt if it can.
  std::optional<std::string> why_not(const RebuiltKernel& kernel);

  /// Returns the compiler of a kernel for processors. Throws Error(kEnvironment) if it is missing, or it does
  /// not know the kernel's instruction set.
  HostCompiler& host(const Isa& isa);
  /// Returns the object file that was kept of a kernel when it was measured; "": none was kept.
  std::string kept_object(const RebuiltKernel& kernel) const;
  /// Returns the compiler of a kernel for GPUs; nullptr with the reason if it is missing.
  NvrtcCompiler* gpu(const RebuiltKernel& kernel, std::string& reason);

  const CompilerOptions& options() const { return options_; }

 private:
  CompilerOptions options_;
  std::map<std::string, HostCompiler> hosts_;                   ///< by the name of their Isa
  std::map<std::string, std::unique_ptr<NvrtcCompiler>> gpus_;  ///< by identity
};

}  // namespace lehr
