// Compiles source text to a cubin, in this process, with NVIDIA's run-time compiler. libnvrtc is loaded when
// a compiler is constructed and never linked: the program starts without it, and says what to install. It
// needs neither a GPU nor a driver.
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

/// A compiled source: machine code for one architecture, and the text that a driver compiles for another one.
struct CudaImages {
  std::string cubin, ptx;
  Resources resources;
};

/// Compiles with `--std=c++17 -Xptxas -v` for one architecture. Candidates that spill, or have advisories,
/// become Failure{kRejected} (why_rejected()). The time limit is NVRTC's flow callback (since 12.8), which is
/// only called between passes: a single pass that never ends cannot be stopped in this process, and in older
/// releases the limit has no effect. choose_nvrtc() (nvrtc_library.h) decides which NVRTC is used.
class NvrtcCompiler : public WorkerCompiler {
 public:
  /// Throws Error(kEnvironment) if there is no libnvrtc that the driver serves, or it does not know the
  /// architecture.
  explicit NvrtcCompiler(WorkerCompilerOptions options);
  /// Returns the installed compiler whose identity() for `options.arch` is `identity`, whatever driver is
  /// installed; nullptr if it is missing, and then `here` lists the installed ones.
  static std::unique_ptr<NvrtcCompiler> of(const std::string& identity, const WorkerCompilerOptions& options,
                                           std::string& here);
  ~NvrtcCompiler() override;
  NvrtcCompiler(const NvrtcCompiler&) = delete;
  NvrtcCompiler& operator=(const NvrtcCompiler&) = delete;

  using Compiler::compile;
  /// Compiles sources. Cubins are in a private temporary directory that is removed with this object. A
  /// compilation in this process cannot be stopped: only its WorkerCompilerOptions limit it.
  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override;
  Compiled compile_to(const Source& source, const std::string& path) override;
  /// Compiles to memory, with the PTX.
  std::variant<CudaImages, Failure> images_of(const Source& source);
  /// Returns "NVRTC 13.0 --gpu-architecture=sm_90a --std=c++17".
  std::string identity() const override;
  /// Returns the file that was loaded, for `lehr doctor`.
  const std::string& library_path() const;
  CudaVersion version() const;

 private:
  NvrtcCompiler(WorkerCompilerOptions options, SharedLibrary library);
  struct State;
  std::unique_ptr<State> state_;
};

/// Returns nullopt if there is an NVRTC that the driver serves, else one sentence that says what to install.
std::optional<std::string> why_no_nvrtc(const std::vector<std::string>& library_directories = {});

}  // namespace lehr
