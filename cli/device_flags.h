// The flags of commands that choose a device.
#pragma once

#include <string_view>
#include <vector>

#include "api/device_names.h"
#include "cli/option_flags.h"

namespace lehr {

/// Adds the flags of all members of DeviceOptions, or only of the named members. The help of --isa lists the
/// values for this machine.
void add_device_flags(OptionFlags& flags, CLI::App& app, const std::vector<std::string_view>& members = {});
/// Adds the flags that choose where a kernel runs, and limit how long it may run.
void add_run_flags(OptionFlags& flags, CLI::App& app);

}  // namespace lehr
