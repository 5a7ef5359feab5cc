// How kernels of one target are compiled and run on this machine: one value per target, each in its own room
// and listed in measure/worker/backends.cpp.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/tool_paths.h"
#include "measure/core/compiler.h"
#include "measure/core/contest_options.h"
#include "measure/core/runner.h"
#include "record/device.h"
#include "target/archs.h"

namespace lehr {

struct DeviceRequest {
  int ordinal = 0;             ///< of several of one kind
  int threads = 0;             ///< of the CPU; 0: all that the process may use
  Isa isa = {};                ///< what it is used as; of native its abilities are what kernels may use
  bool measure_rates = false;  ///< where peak rates are not known but measured, in some tens of milliseconds
};

/// How sources are compiled.
struct CompileSettings {
  int jobs = 1;                             ///< so many at once
  Isa isa = {};                             ///< that the limits are of
  const std::atomic<bool>* stop = nullptr;  ///< once it is set nothing is waited for; nullptr: never
};

/// A line of `lehr doctor`.
struct MachinePart {
  std::string_view name;
  /// What is here. Throws Error(kEnvironment) that says what is missing and what to do.
  std::string (*describe)(const ToolPaths& tools);
};

struct Backend {
  Target target;

  /// nullopt with a reason in `why_not` when there is no such device. Its `compiler` stays empty. Throws
  /// Error(kEnvironment) for a level whose vectors the device does not have.
  std::optional<Device> (*find)(const DeviceRequest& request, std::string& why_not);
  bool numbered = false;          ///< "--device NAME:1" is the second of them
  std::string_view instead = "";  ///< what can be done without one: "--device cpu tunes on the CPU instead"
  std::span<const MachinePart> parts;  ///< for `lehr doctor`

  /// Candidates run on the CPUs that compile them: on all of Limits::cores, and nothing is compiled meanwhile
  /// unless a CPU is free. Else compiling goes on, but for one CPU that is left to the host's part in timing.
  bool on_host = false;
  /// Folders in which the target's libraries are looked for after the loader's own search.
  std::vector<std::string> (*library_folders)(const ToolPaths& tools);
  /// nullopt where candidates can be compiled, else a sentence. nullptr: always.
  std::optional<std::string> (*why_no_compiler)(const ToolPaths& tools) = nullptr;
  /// nullptr: the worker compiler does it, in as many processes as there are jobs.
  std::unique_ptr<Compiler> (*compiler)(const ToolPaths& tools, const CompileSettings& settings) = nullptr;
  std::unique_ptr<WorkerCompiler> (*worker_compiler)(const WorkerCompilerOptions& options) = nullptr;
  std::unique_ptr<Runner> (*make_runner)();
  /// The kernels by which its runner, and those of its vendor libraries, check outputs of such a problem on
  /// the device. nullptr: the host checks.
  Source (*check_kernels)(const Problem& problem) = nullptr;

  /// What candidates find in the caches when these are not swept: "warm" (the call before them was their
  /// own), or "rotating" (tensors in turn that together exceed twice the last cache).
  std::string_view caches;
  /// Rates of the device now, while no kernel runs: GFLOP/s of f32, GB/s read. nullptr: they cannot be asked.
  double (*peak_gflops)(const Limits& limits) = nullptr;
  double (*read_gbytes)(const Limits& limits) = nullptr;
  /// GFLOP/s of f32 that surely nothing exceeds by much, however busy the machine is; nullptr as above.
  double (*burst_gflops)(const Limits& limits) = nullptr;
  ContestOptions contest = {};
};

}  // namespace lehr
