// Source text -> cubin, in this process, with NVIDIA's run-time compiler. libnvrtc is loaded when a compiler
// is made and never linked: the program starts where it is missing, and says what to install. It needs
// neither a GPU nor a driver.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/compiler.h"
#include "measure/cuda/ptxas_log.h"

namespace lehr {

struct NvrtcOptions {
  std::string arch;  ///< a real architecture, "sm_90a": ptxas runs, so registers and spills are known
  /// Searched after the loader's own path (cuda_library_folders()); /usr/local/cuda/lib64 comes last.
  std::vector<std::string> library_directories;
  /// Wall time of one compilation, in seconds. NVRTC is asked to give up (its flow callback, since 12.8); it
  /// looks up between passes only, so a single pass that never ends cannot be stopped in this process. Older
  /// releases have no callback: there the limit has no effect. CompilePool kills what does not stop.
  double time_limit_s = 60;
  RejectRule reject;
  friend bool operator==(const NvrtcOptions&, const NvrtcOptions&) = default;
};

/// Compiles with `--std=c++17 -Xptxas -v` for one architecture, one source after the other: CompilePool
/// (compile_pool.h) runs several of these, each in a process of its own. Spilling candidates and those with
/// advisories become Failure{kRejected} (RejectRule).
class NvrtcCompiler : public Compiler {
 public:
  /// Throws Error(kEnvironment) when libnvrtc is not found or too old for the architecture.
  explicit NvrtcCompiler(NvrtcOptions options);
  ~NvrtcCompiler() override;
  NvrtcCompiler(const NvrtcCompiler&) = delete;
  NvrtcCompiler& operator=(const NvrtcCompiler&) = delete;

  /// Cubins live in a private temporary directory that goes with this object.
  std::vector<Compiled> compile(std::span<const Source> sources) override;
  /// One source, whose cubin goes to `path`.
  Compiled compile_to(const Source& source, const std::string& path);
  /// "NVRTC 13.0 --gpu-architecture=sm_90a --std=c++17"
  std::string identity() const override;
  /// The file that was loaded, for `lehr doctor`.
  const std::string& library_path() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// nullopt where NVRTC can be loaded, else one sentence that says what to install.
std::optional<std::string> why_no_nvrtc(const std::vector<std::string>& library_directories = {});

}  // namespace lehr
