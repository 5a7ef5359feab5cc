// Compilers for the kernels of a folder. A kernel is compiled as it was compiled when it was measured.
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
  HostCompilerOptions host;  ///< each kernel is compiled with its own `isa`
  /// Folders to search for NVRTC, in addition to the loader's own.
  std::vector<std::string> gpu_libraries = {};
  /// Compiler that has kept object files of kernels, which are used instead of compiling. nullptr: all
  /// kernels are compiled.
  const Compiler* tuned = nullptr;
};

/// The compilers of all kernels. Each compiler is made when the first kernel needs it.
class FolderCompilers {
 public:
  explicit FolderCompilers(CompilerOptions options) : options_(std::move(options)) {}

  /// Explains, as the end of a sentence, why a kernel cannot be compiled on this machine as it was measured:
  /// its compiler is missing or is another one. Returns nullopt if the kernel can be compiled.
  std::optional<std::string> why_not(const RebuiltKernel& kernel);

  /// Returns the compiler for kernels of a processor with this instruction set. Throws Error(kEnvironment) if
  /// the compiler is missing or does not know the instruction set.
  HostCompiler& host(const Isa& isa);
  /// Returns the object file that was kept when the kernel was measured; "" if none was kept.
  std::string kept_object(const RebuiltKernel& kernel) const;
  /// Returns the compiler of a kernel for GPUs. If it is missing, returns nullptr and sets `reason`.
  NvrtcCompiler* gpu(const RebuiltKernel& kernel, std::string& reason);

  const CompilerOptions& options() const { return options_; }

 private:
  CompilerOptions options_;
  std::map<std::string, HostCompiler> hosts_;  ///< compilers for processors, by the name of the Isa
  std::map<std::string, std::unique_ptr<NvrtcCompiler>> gpus_;  ///< compilers for GPUs, by their identity
};

}  // namespace lehr
