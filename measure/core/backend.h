// How kernels of one target are compiled and run on this machine: one value per target, each in its own
// folder and listed in measure/worker/backends.cpp.
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
  int ordinal = 0;  ///< among several devices of one kind
  int threads = 0;  ///< of the CPU; 0: all that the process may use
  Isa isa = {};     ///< the level that it is used as; with native, kernels may use all its features
  /// Whether to measure peak rates that are not known, in some tens of milliseconds.
  bool measure_rates = false;
};

/// How sources are compiled.
struct CompileSettings {
  int jobs = 1;                             ///< number of compilations at once
  Isa isa = {};                             ///< of the limits
  const std::atomic<bool>* stop = nullptr;  ///< once it is true nothing is waited for; nullptr: never
};

/// A line of `lehr doctor`.
struct MachinePart {
  std::string_view name;
  /// Describes what is installed. Throws Error(kEnvironment) that says what is missing and what to do.
  std::string (*describe)(const ToolPaths& tools);
};

struct Backend {
  Target target;

  /// Returns the device; nullopt with a reason in `why_not` if it does not exist. Its `compiler` stays empty.
  /// Throws Error(kEnvironment) for a level whose vectors the device does not have.
  std::optional<Device> (*find)(const DeviceRequest& request, std::string& why_not);
  bool numbered = false;  ///< whether devices have numbers: "--device NAME:1" is the second one
  /// Advice if there is no such device: "--device cpu tunes on the CPU instead".
  std::string_view instead = "";
  std::span<const MachinePart> parts;  ///< for `lehr doctor`

  /// Whether candidates run on the CPUs that compile them. Then they run on all of Limits::cores, and nothing
  /// is compiled meanwhile unless a CPU is free. Otherwise compiling goes on, except on one CPU that is left
  /// for timing.
  bool on_host = false;
  /// Returns folders in which the target's libraries are searched after the loader's own search.
  std::vector<std::string> (*library_folders)(const ToolPaths& tools);
  /// Returns nullopt if candidates can be compiled, else a sentence. nullptr: they always can.
  std::optional<std::string> (*why_no_compiler)(const ToolPaths& tools) = nullptr;
  /// Makes the compiler. nullptr: the worker compiler compiles, in as many processes as there are jobs.
  std::unique_ptr<Compiler> (*compiler)(const ToolPaths& tools, const CompileSettings& settings) = nullptr;
  std::unique_ptr<WorkerCompiler> (*worker_compiler)(const WorkerCompilerOptions& options) = nullptr;
  std::unique_ptr<Runner> (*make_runner)();
  /// Returns the kernels with which its runner, and those of its vendor libraries, check outputs of such a
  /// problem on the device. nullptr: the host checks.
  Source (*check_kernels)(const Problem& problem) = nullptr;

  /// State of the caches that candidates find if these are not swept: "warm" (the previous call was their
  /// own), or "rotating" (tensors in turn that together exceed twice the last cache).
  std::string_view caches;
  /// Measure rates of the device now, while no kernel runs: GFLOP/s of f32, GB/s read. nullptr: not possible.
  double (*peak_gflops)(const Limits& limits) = nullptr;
  double (*read_gbytes)(const Limits& limits) = nullptr;
  /// Returns the GFLOP/s of f32 that nothing exceeds by much, however busy the machine is. nullptr: not
  /// possible.
  double (*burst_gflops)(const Limits& limits) = nullptr;
  ContestOptions contest = {};
};

}  // namespace lehr
