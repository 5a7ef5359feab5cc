// A device with its compiler and measurer: all that running kernels needs.
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
  kUsual,   ///< where the target's calls in a row find them (Backend::caches)
  kMemory,  ///< in memory: caches are swept if calls would find them there
  kCold,    ///< in memory, and all caches are swept
};

/// Which device to use, and how.
struct DeviceChoice {
  bool automatic = true;
  Target target;
  int ordinal = 0;
  int threads = 0;  ///< CPU threads; 0: all that this program may use
  Isa isa = {};     ///< instruction set of a CPU
  Caches caches = Caches::kUsual;
  std::string bundle;           ///< RunSettings::bundle
  std::optional<bool> overlap;  ///< LocalOptions::overlap; nullopt: on where it does not disturb timings
  std::optional<double> run_timeout_s;  ///< LocalOptions::run_timeout_s
};
/// Device ordinals are below this.
inline constexpr int kMostDevices = 64;

/// Upper limit of the number of sources compiled at once, unless the user asks for more. With 16 sources
/// compiled ahead a search needs a third more trials than with one (bench/results/replay/table.md), so more
/// cores are no reason for more.
inline constexpr int kMostUsualJobs = 16;

/// How long candidates are timed.
enum class Timings {
  kFull,   ///< long enough to rank them
  kShort,  ///< once: only the result of the kernel matters
};

/// Options for opening a device.
struct OpenOptions {
  ToolPaths tools;
  /// Number of sources compiled at once. 0: one per CPU, at most kMostUsualJobs. If a GPU is timed, one CPU
  /// is left free.
  int jobs = 0;
  Timings timings = Timings::kFull;
  const std::atomic<bool>* stop = nullptr;  ///< once true, nothing is waited for any more; nullptr: never
};

struct OpenDevice {
  std::shared_ptr<Supervised> supervisor;  ///< nullptr without ToolPaths::supervised
  Device device;
  std::unique_ptr<Compiler> compiler;
  std::unique_ptr<Measurer> measurer;
  Prober prober;                            ///< prober_of(): called now and then while no kernel runs
  std::function<double()> bound;            ///< bound_of(): called before a time is called implausible
  const std::atomic<bool>* stop = nullptr;  ///< sessions end once it is true; nullptr: never
  bool stopped() const { return stop != nullptr && stop->load(); }
  std::string note;  ///< why `automatic` did not take the GPU; "" if there was no choice
};

/// Finds the device without its compiler: the field `compiler` stays empty. `automatic` takes a GPU if there
/// is one with a compiler and a template for `workload`, else the CPU, with the reason in `note`. Throws
/// Error(kEnvironment), whose text says what to do, if something that was asked for by name is missing, or if
/// kernels of the chosen instruction set need features that this processor lacks.
Device choose_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                     bool measure_rates, std::string& note);

/// Finds a device with the fields by which logs name it. It is choose_device() with the compiler and without
/// rates, and takes a tenth of its time. Throws as choose_device(), and if the compiler is missing.
Device identified_device(const DeviceChoice& choice, const Workload& workload, const ToolPaths& tools,
                         std::string& note);

/// Returns the device of this machine that has this identity now, compiler included; nullopt if there is
/// none. Throws Error(kEnvironment) if the compiler is missing.
std::optional<DeviceChoice> device_at_hand(const std::string& identity, const std::string& target,
                                           const OpenOptions& options);

/// Opens the device with everything that measuring needs. On a GPU, and on a CPU with cores to spare,
/// candidates are compiled while others are timed (LocalOptions::overlap). Throws as choose_device().
OpenDevice open_device(const DeviceChoice& choice, const Workload& workload, const OpenOptions& options);

/// Returns the usual opponents of a contest: the target's vendor libraries, and kUnfused if the target
/// supports it.
std::vector<std::string> usual_baselines(Target target);

}  // namespace lehr
