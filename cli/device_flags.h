// --device, --threads, --isa, --jobs and --baseline, and the device that they name.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"
#include "tune/open_device.h"

namespace lehr {

/// "--device auto | cpu | cuda | cuda:N", "--threads N" and "--isa LEVEL". A level of `isa` chooses the
/// target that has it. Throws Error(kUser), one sentence.
DeviceChoice parse_device(const std::string& device, const std::string& threads, const std::string& isa);

/// "--jobs N": compilations at once; "" = one per CPU that this process may use. Throws Error(kUser).
int parse_jobs(const std::string& text);

/// "--baseline a,b": vendor libraries of the target, and kUnfused where it can be. "": usual_baselines().
/// Throws Error(kUser) for one that is not known.
std::vector<std::string> chosen_baselines(Target target, const std::string& flag);
/// The flag's help: all that this build knows.
std::string baseline_help();

/// choose_device() and open_device(), which begin with check_runs_here() (cli/isa_flag.h).
Device device_here(const DeviceChoice& choice, const Workload& workload, const Environment& environment,
                   bool measure_rates, std::string& note);
OpenDevice open_here(const DeviceChoice& choice, const Workload& workload, const Environment& environment,
                     int jobs, Timings timings = Timings::kFull);

}  // namespace lehr
