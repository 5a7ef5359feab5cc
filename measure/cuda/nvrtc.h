// Compiles source text to a cubin with NVRTC, in this process. libnvrtc is loaded when a compiler is
// constructed and never linked. So the program starts without it, and says what to install. NVRTC needs
// neither a GPU nor a driver.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "measure/core/compiler.h"
#include "measure/cuda/cuda_driver.h"
#include "measure/cuda/ptxas_log.h"
#include "measure/system/shared_library.h"

namespace lehr {

/// A compiled source: machine code for one architecture, and PTX, which a driver compiles for another
/// architecture.
struct CudaImages {
  std::string cubin, ptx;
  Resources resources;
};

/// Compiles with `--std=c++17 -Xptxas -v` for one architecture. Candidates that spill, or have advisories,
/// become Failure{kRejected} (why_rejected()). The time limit is enforced by NVRTC's flow callback (since
/// 12.8), which is only called between passes. So a single pass that never ends cannot be stopped in this
/// process, and in older releases the limit has no effect. choose_nvrtc() (nvrtc_library.h) decides which
/// NVRTC is used.
class NvrtcCompiler : public WorkerCompiler {
 public:
  /// Throws Error(kEnvironment) if there is no libnvrtc whose code the driver loads, or if libnvrtc does not
  /// know the architecture.
  explicit NvrtcCompiler(WorkerCompilerOptions options);
  /// Returns the installed compiler whose identity() for `options.arch` is `identity`, whatever driver is
  /// installed. If it is missing, returns nullptr and sets `here` to a list of the installed compilers.
  static std::unique_ptr<NvrtcCompiler> of(const std::string& identity, const WorkerCompilerOptions& options,
                                           std::string& here);
  ~NvrtcCompiler() override;
  NvrtcCompiler(const NvrtcCompiler&) = delete;
  NvrtcCompiler& operator=(const NvrtcCompiler&) = delete;

  using Compiler::compile;
  /// Compiles sources. Cubins are stored in a private temporary directory, which is removed with this object.
  /// `most_s` is ignored, since a compilation in this process cannot be stopped: only
  /// WorkerCompilerOptions::time_limit_s limits it.
  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override;
  Compiled compile_to(const Source& source, const std::string& path) override;
  /// Compiles to a cubin and to PTX, both in memory.
  std::variant<CudaImages, Failure> images_of(const Source& source);
  /// Returns "NVRTC 13.0 --gpu-architecture=sm_90a --std=c++17".
  std::string identity() const override;
  /// Returns the path of the file that was loaded, for `lehr doctor`.
  const std::string& library_path() const;
  CudaVersion version() const;

 private:
  NvrtcCompiler(WorkerCompilerOptions options, SharedLibrary library);
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns nullopt if there is an NVRTC whose code the driver loads, else one sentence that says what to
/// install.
std::optional<std::string> why_no_nvrtc(const std::vector<std::string>& library_directories = {});

}  // namespace lehr
