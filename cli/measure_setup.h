// A device with the compiler and the measurer that belong to it: what a command needs to run kernels.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/environment.h"
#include "measure/core/compiler.h"
#include "measure/core/device.h"
#include "measure/core/measurer.h"
#include "workload/workload.h"

namespace lehr {

/// "--device auto | cpu | cuda | cuda:N", "--threads N" and "--isa LEVEL".
struct DeviceChoice {
  bool automatic = true;
  Target target;
  int ordinal = 0;
  int threads = 0;              ///< CPU; 0: all that the process may use
  const IsaLevel* isa = nullptr;  ///< nullptr: native
  bool cold = false;            ///< RunSettings::cold
  bool cold_on_host = false;    ///< the same, but for a target whose calls find their inputs in memory anyway
  std::string bundle;           ///< RunSettings::bundle
  std::optional<bool> overlap;  ///< LocalOptions::overlap; nullopt: where it does not disturb
  std::optional<double> run_timeout_s;  ///< LocalOptions::run_timeout_s
};
/// A level of `isa` chooses the target that has it. Throws Error(kUser), one sentence.
DeviceChoice parse_device(const std::string& device, const std::string& threads, const std::string& isa);

struct MeasureSetup {
  Device device;
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<Measurer> measurer;
  std::string note;  ///< why `auto` did not take the GPU; "" if there was nothing to choose
};

/// Finds the device without a compiler; its `compiler` field stays empty. `auto` takes a GPU where
/// there is one with its compiler and a template for `workload`, else the CPU with the reason in `note`.
/// Throws Error(kEnvironment) when what was asked for by name is missing, or the level does not run here,
/// saying what to do.
Device choose_device(const DeviceChoice& choice, const Workload& workload, const Environment& environment,
                     bool measure_rates, std::string& note);

/// The device of this machine that has this identity now, with its compiler: what candidates are run on.
/// nullopt: there is none. Throws Error(kEnvironment) where the compiler is missing.
std::optional<DeviceChoice> device_at_hand(const std::string& identity, const std::string& target,
                                           const Environment& environment);

/// How long candidates are timed.
enum class Timings {
  kFull,   ///< long enough to rank them
  kShort,  ///< once: only the result matters
};

/// The device with everything that measuring needs. `jobs` sources are compiled at once; 0: one per CPU, but
/// for one that is left to the host's part in timing a GPU. Candidates are compiled while others are timed on
/// a GPU, and on a CPU with cores to spare (LocalOptions::overlap). Throws as choose_device.
MeasureSetup make_measure_setup(const DeviceChoice& choice, const Workload& workload,
                                const Environment& environment, int jobs, Timings timings = Timings::kFull);

/// The compiler alone, for a device that need not be present (CUDA). `jobs` sources are compiled at once, for
/// that level (nullptr: native).
std::unique_ptr<Compiler> make_compiler(const Limits& limits, const Environment& environment, int jobs,
                                        const IsaLevel* isa);

/// "--jobs N": compilations at once; "" = one per CPU that this process may use. Throws Error(kUser).
int parse_jobs(const std::string& text);

/// "--baseline a,b": vendor libraries of the target, and kUnfused where it can be. "": those that are timed
/// by default. Throws Error(kUser) for one that is not known.
std::vector<std::string> chosen_baselines(Target target, const std::string& flag);
/// The flag's help: all that this build knows.
std::string baseline_help();

}  // namespace lehr
