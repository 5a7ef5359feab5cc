// Compiles sources in worker processes, for a compiler that is a library. If the library crashes, hangs or
// uses up memory, only one candidate is lost.
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
  /// compiler.time_limit_s is enforced twice: the library is asked to stop then, and a worker that has not
  /// replied a second later is killed.
  WorkerCompilerOptions compiler;
  int workers = 0;  ///< number of processes; 0: one per CPU in this process's affinity mask
  /// Limit of a worker's private memory in bytes. 40 sampled gemm_simt kernels for 4096 cubed took at most 72
  /// MB (VmData, NVRTC 13.0, 2026-11-21), so a compilation that needs 2 GiB is a runaway.
  std::int64_t memory_bytes = std::int64_t{2} << 30;
  std::string temp_base;  ///< folder for the binaries; "": as TempDir chooses
};

/// Workers are started when there is work for them and live as long as this object. Each loads the library
/// once and compiles one source at a time. Without a supervisor a worker dies with the thread that started it
/// (PR_SET_PDEATHSIG). A lost worker is replaced. A crash is reported as Failure{kCompile}, an exceeded time
/// limit as kCompileTimeout, exhausted memory as kOutOfMemory, and a kernel that its compiler log rules out
/// as kRejected.
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
  /// Returns the identity of the worker compiler.
  std::string identity() const override;
  /// Returns the number of sources that are compiled at once.
  int workers() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr
