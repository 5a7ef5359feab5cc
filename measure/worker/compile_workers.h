// Sources -> binaries in worker processes, for a compiler that is a library: one that crashes, hangs or
// devours memory costs one candidate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/core/compiler.h"
#include "measure/worker/worker_process.h"

namespace lehr {

struct CompileWorkersOptions {
  WorkerOptions worker;
  Target target;  ///< whose Backend::worker_compiler is used
  /// Its time_limit_s is kept twice: the library is asked to stop then, and a worker that has not answered a
  /// second later is killed.
  WorkerCompilerOptions compiler;
  int workers = 0;  ///< processes; 0: one per CPU of this process's affinity mask
  /// Private memory of one worker. 40 sampled 4096-cubed gemm_simt kernels took 72 MB at most (VmData,
  /// NVRTC 13.0, 2026-11-21): what needs 2 GiB is a runaway.
  std::int64_t memory_bytes = std::int64_t{2} << 30;
  std::string temp_base;  ///< for the binaries; "" as in TempDir
};

/// Workers are started when there is work for them and live as long as this object; each has loaded the
/// library once. Callers feed them, one source at a time each: without a supervisor a worker dies with the
/// thread that started it (PR_SET_PDEATHSIG). A worker that is lost is replaced. Crashes are
/// Failure{kCompile}, a passed time limit is kCompileTimeout, exhausted memory kOutOfMemory; what the log
/// speaks against is kRejected.
class CompileWorkers : public Compiler {
 public:
  /// Starts the first worker. Throws Error(kEnvironment) when the library is missing or too old for the
  /// architecture, or when no worker can be started.
  explicit CompileWorkers(CompileWorkersOptions options);
  ~CompileWorkers() override;
  CompileWorkers(const CompileWorkers&) = delete;
  CompileWorkers& operator=(const CompileWorkers&) = delete;

  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override;
  using Compiler::compile;
  /// The worker compiler's.
  std::string identity() const override;
  /// How many sources are compiled at once.
  int workers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr
