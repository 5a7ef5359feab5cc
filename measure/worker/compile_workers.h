// Compiles sources in worker processes, for a compiler that is a library: if it crashes, hangs or uses up
// memory, that costs one candidate.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "measure/core/compiler.h"
#include "measure/worker/worker_process.h"

namespace lehr {

struct CompileWorkersOptions {
  WorkerOptions worker;
  Target target;  ///< target whose Backend::worker_compiler is used
  /// Its time_limit_s is enforced twice: the library is asked to stop then, and a worker that has not
  /// answered a second later is killed.
  WorkerCompilerOptions compiler;
  int workers = 0;  ///< number of processes; 0: one per CPU of this process's affinity mask
  /// Private memory of one worker. 40 sampled 4096-cubed gemm_simt kernels took at most 72 MB (VmData, NVRTC
  /// 13.0, 2026-11-21): a compilation that needs 2 GiB is a runaway.
  std::int64_t memory_bytes = std::int64_t{2} << 30;
  std::string temp_base;  ///< for the binaries; "": as TempDir chooses
};

/// Workers are started when there is work for them and live as long as this object; each has loaded the
/// library once. Callers give each worker one source at a time. Without a supervisor a worker dies with the
/// thread that started it (PR_SET_PDEATHSIG). A lost worker is replaced. Crashes are Failure{kCompile}, an
/// exceeded time limit kCompileTimeout, exhausted memory kOutOfMemory, and a kernel that its log rules out
/// kRejected.
class CompileWorkers : public Compiler {
 public:
  /// Starts the first worker. Throws Error(kEnvironment) if the library is missing or too old for the
  /// architecture, or if no worker can be started.
  explicit CompileWorkers(CompileWorkersOptions options);
  ~CompileWorkers() override;
  CompileWorkers(const CompileWorkers&) = delete;
  CompileWorkers& operator=(const CompileWorkers&) = delete;

  std::vector<Compiled> compile(std::span<const Source> sources, double most_s) override;
  using Compiler::compile;
  /// Returns the worker compiler's.
  std::string identity() const override;
  /// Returns how many sources are compiled at once.
  int workers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr
