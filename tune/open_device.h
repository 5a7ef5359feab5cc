// A device with the compiler and the measurer that belong to it: what is needed to run kernels.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/backend.h"
#include "measure/core/measurer.h"
#include "measure/system/supervisor.h"
#include "tune/roofline.h"
#include "workload/workload.h"

namespace lehr {

/// Where a timed call finds its inputs.
enum class Caches {
  kUsual,   ///< as the target's calls do one behind the other (Backend::caches)
  kMemory,  ///< in memory: the caches are swept where calls would find them there
  kCold,    ///< in memory, and all caches are swept
};

/// Which device, and how it is used.
struct DeviceChoice {
  bool automatic = true;
  Target target;
  int ordinal = 0;
  int threads = 0;  ///< CPU; 0: all that the process may use
  Isa isa = {};     ///< of a CPU
  Caches caches = Caches::kUsual;
  std::string bundle;                   ///< RunSettings::bundle
  std::optional<bool> overlap;          ///< LocalOptions::overlap; nullopt: where it does not disturb
  std::optional<double> run_timeout_s;  ///< LocalOptions::run_timeout_s
};
/// Ordinals are below.
inline constexpr int kMostDevices = 64;

/// As many in hand cost a search a third more trials than one (bench/results/replay/table.md): more cores are
/// no reason for more.
inline constexpr int kMostUsualJobs = 16;

/// How long candidates are timed.
enum class Timings {
  kFull,   ///< long enough to rank them
  kShort,  ///< once: only the result matters
};

/// What a device is opened with.
struct OpenOptions {
  ToolPaths tools;
  /// So many sources are compiled at once; 0: one per CPU, but for one that is left to the host's part in
  /// timing a GPU, and kMostUsualJobs at most.
  int jobs = 0;
  Timings timings = Timings::kFull;
  const std::atomic<bool>* stop = nullptr;  ///< once it is set nothing is waited for; nullptr: never
};

struct OpenDevice {
  std::shared_ptr<Supervised> supervisor;  ///< nullptr without ToolPaths::supervised
  Device device;
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<Measurer> measurer;
  Prober prober;                            ///< prober_of(): asked now and then while no kernel runs
  std::function<double()> bound;            ///< bound_of(): asked before a time is called implausible
  const std::atomic<bool>* stop = nullptr;  ///< sessions end once it is set; nullptr: nobody sets it
  bool stopped() const { return stop != nullptr && stop->load(); }
  std::string note;  ///< why `automatic` did not take the GPU; "" if there was nothing to choose
};

/// Finds the device, without its compiler: the field `compiler` stays empty. `automatic` takes a GPU where
/// there is one with its compiler and a template for `workload`, else the CPU with the reason in `note`.
/// Throws Error(kEnvironment) when what was asked for by name is missing, saying what to do, and for a level
/// whose kernels need what this processor lacks.
Device choose_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                     bool measure_rates, std::string& note);

/// A device as logs name it: as choose_device() finds it, with its compiler and without rates, in a tenth of
/// a second. Throws as choose_device, and where the compiler is missing.
Device identified_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                         std::string& note);

/// The device of this machine that has this identity now, with its compiler: what candidates are run on.
/// nullopt: there is none. Throws Error(kEnvironment) where the compiler is missing.
std::optional<DeviceChoice> device_at_hand(const std::string& identity, const std::string& target,
                                           const OpenOptions& options);

/// The device with everything that measuring needs. Candidates are compiled while others are timed on a GPU,
/// and on a CPU with cores to spare (LocalOptions::overlap). Throws as choose_device.
OpenDevice open_device(const DeviceChoice& choice, const Workload& workload, const OpenOptions& options);

/// What takes part in a contest where nobody names anything: vendor libraries of the target, and kUnfused
/// where it can be.
std::vector<std::string> usual_baselines(Target target);

}  // namespace lehr
