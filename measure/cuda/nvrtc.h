// Source text -> cubin, in this process, with NVIDIA's run-time compiler. libnvrtc is loaded when a compiler
// is made and never linked: the program starts where it is missing, and says what to install. It needs
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

/// What becomes of a source: machine code of one architecture, and the text that a driver makes into that of
/// another.
struct CudaImages {
  std::string cubin, ptx;
  Resources resources;
};

/// Compiles with `--std=c++17 -Xptxas -v` for one architecture. Spilling candidates and those with advisories
/// become Failure{kRejected} (why_rejected()). The time limit is NVRTC's flow callback (since 12.8), which
/// looks up between passes only: a single pass that never ends cannot be stopped in this process, and with
/// older releases the limit has no effect. Which NVRTC that is: choose_nvrtc() (nvrtc_library.h).
class NvrtcCompiler : public WorkerCompiler {
 public:
  /// Throws Error(kEnvironment) when no libnvrtc is found that the driver serves, or it does not know the
  /// architecture.
  explicit NvrtcCompiler(WorkerCompilerOptions options);
  /// The installed one whose identity() for `options.arch` is `identity`, whatever driver is here; none is
  /// nullptr, and `here` says which there are.
  static std::unique_ptr<NvrtcCompiler> of(const std::string& identity, const WorkerCompilerOptions& options,
                                           std::string& here);
  ~NvrtcCompiler() override;
  NvrtcCompiler(const NvrtcCompiler&) = delete;
  NvrtcCompiler& operator=(const NvrtcCompiler&) = delete;

  using Compiler::compile;
  /// Cubins live in a private temporary directory that goes with this object. A compilation in this process
  /// cannot be ended: only its WorkerCompilerOptions limit it.
  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override;
  Compiled compile_to(const Source& source, const std::string& path) override;
  /// The same in memory, with the PTX.
  std::variant<CudaImages, Failure> images_of(const Source& source);
  /// "NVRTC 13.0 --gpu-architecture=sm_90a --std=c++17"
  std::string identity() const override;
  /// The file that was loaded, for `lehr doctor`.
  const std::string& library_path() const;
  CudaVersion version() const;

 private:
  NvrtcCompiler(WorkerCompilerOptions options, SharedLibrary library);
  struct State;
  std::unique_ptr<State> state_;
};

/// nullopt where there is an NVRTC that the driver serves, else one sentence that says what to install.
std::optional<std::string> why_no_nvrtc(const std::vector<std::string>& library_directories = {});

}  // namespace lehr
