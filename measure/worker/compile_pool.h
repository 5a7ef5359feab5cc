// CUDA sources -> cubins in worker processes: a compiler that crashes, hangs or devours memory costs one
// candidate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/core/compiler.h"
#include "measure/cuda/nvrtc.h"
#include "measure/worker/worker_process.h"

namespace lehr {

struct CompilePoolOptions {
  WorkerOptions worker;
  /// Its time_limit_s is kept twice: NVRTC is asked to stop then, and a worker that has not answered a second
  /// later is killed.
  NvrtcOptions nvrtc;
  int workers = 0;  ///< processes; 0: one per CPU of this process's affinity mask
  /// Private memory of one worker. 40 sampled 4096-cubed gemm_simt kernels took 72 MB at most (VmData,
  /// NVRTC 13.0, 2026-11-21): what needs 2 GiB is a runaway.
  std::int64_t memory_bytes = std::int64_t{2} << 30;
  std::string temp_base;  ///< for the cubins; "" as in TempDir
};

/// Workers are started when there is work for them and live as long as this object; each has loaded NVRTC
/// once. One thread, the caller's, feeds them all, one source at a time each, so that they die with it
/// (PR_SET_PDEATHSIG) and none is left behind. A worker that is lost is replaced. Crashes are
/// Failure{kCompile}, a passed time limit is kCompileTimeout, exhausted memory kOutOfMemory; what the log
/// speaks against is kRejected (RejectRule).
class CompilePool : public Compiler {
 public:
  /// Starts the first worker. Throws Error(kEnvironment) when NVRTC is missing or too old for the
  /// architecture, or when no worker can be started.
  explicit CompilePool(CompilePoolOptions options);
  ~CompilePool() override;
  CompilePool(const CompilePool&) = delete;
  CompilePool& operator=(const CompilePool&) = delete;

  std::vector<Compiled> compile(std::span<const Source> sources) override;
  /// NvrtcCompiler's.
  std::string identity() const override;
  /// How many sources are compiled at once.
  int workers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr
