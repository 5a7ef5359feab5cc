// How kernels for one target are compiled and run on this machine. There is one Backend per target. Each
// Backend is defined in a folder of its own and listed in measure/worker/backends.cpp.
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
  int ordinal = 0;  ///< which of several devices of one kind
  int threads = 0;  ///< number of CPU threads; 0: all that the process may use
  /// Instruction set that CPU kernels may use. With `native`, kernels may use all of the CPU's features.
  Isa isa = {};
  /// Whether to measure the device's peak rates if they are not known. Measuring takes some tens of
  /// milliseconds.
  bool measure_rates = false;
};

/// How sources are compiled.
struct CompileSettings {
  int jobs = 1;                             ///< number of compilations at once
  Isa isa = {};                             ///< instruction set of the device's limits
  const std::atomic<bool>* stop = nullptr;  ///< once true, waiting for compilations ends; nullptr: never
};

/// A line of `lehr doctor`.
struct MachinePart {
  std::string_view name;
  /// Describes what is installed. If something is missing, throws Error(kEnvironment) with a text that states
  /// what is missing and what to do.
  std::string (*describe)(const ToolPaths& tools);
};

struct Backend {
  Target target;

  /// Returns the device. If it does not exist, returns nullopt and sets `why_not` to the reason. The device's
  /// `compiler` stays empty. Throws Error(kEnvironment) for an instruction set whose vectors the device does
  /// not have.
  std::optional<Device> (*find)(const DeviceRequest& request, std::string& why_not);
  bool numbered = false;  ///< whether devices have numbers: "--device NAME:1" is the second one
  /// Advice if there is no such device: "--device cpu tunes on the CPU instead".
  std::string_view instead = "";
  std::span<const MachinePart> parts;  ///< for `lehr doctor`

  /// Whether candidates run on the CPUs that compile them. If true, candidates run on Limits::cores CPUs, and
  /// meanwhile sources are compiled only if another CPU is free. If false, sources are compiled on all CPUs
  /// but one while candidates are timed.
  bool on_host = false;
  /// Returns folders in which the target's libraries are searched after the loader's own search.
  std::vector<std::string> (*library_folders)(const ToolPaths& tools);
  /// Returns a sentence that explains why candidates cannot be compiled; nullopt if they can be compiled.
  /// nullptr: candidates can always be compiled.
  std::optional<std::string> (*why_no_compiler)(const ToolPaths& tools) = nullptr;
  /// Makes the compiler. nullptr: worker_compiler() makes the compilers, one in each of CompileSettings::jobs
  /// worker processes.
  std::unique_ptr<Compiler> (*compiler)(const ToolPaths& tools, const CompileSettings& settings) = nullptr;
  std::unique_ptr<WorkerCompiler> (*worker_compiler)(const WorkerCompilerOptions& options) = nullptr;
  std::unique_ptr<Runner> (*make_runner)();
  /// Returns the kernels with which the target's runner, and the runners of its vendor libraries, check
  /// outputs of `problem` on the device. nullptr: outputs are checked on the host.
  Source (*check_kernels)(const Problem& problem) = nullptr;

  /// State of the caches when a candidate is called, if the caches are not swept: "warm" (the previous call
  /// was the same candidate's) or "rotating" (calls use copies of the tensors in turn, which together exceed
  /// twice the last-level cache).
  std::string_view caches;
  /// Measure peak rates of the device while no kernel runs: peak_gflops() in GFLOP/s of f32, read_gbytes() in
  /// GB/s read from memory. nullptr: not possible.
  double (*peak_gflops)(const Limits& limits) = nullptr;
  double (*read_gbytes)(const Limits& limits) = nullptr;
  /// Returns an f32 rate in GFLOP/s that no kernel exceeds by much. The rate does not depend on how busy the
  /// machine is. nullptr: not possible.
  double (*burst_gflops)(const Limits& limits) = nullptr;
  ContestOptions contest = {};
};

}  // namespace lehr
