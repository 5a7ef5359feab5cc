// The flags of commands that choose a device.
#pragma once

#include <string_view>
#include <vector>

#include "api/device_names.h"
#include "cli/option_flags.h"

namespace lehr {

/// Adds the flags of DeviceOptions, or of the named members. `isa` gets the values that it takes here.
void add_device_flags(OptionFlags& flags, CLI::App& app, const std::vector<std::string_view>& members = {});
/// Adds the flags that say where a kernel is run, and for how long it may run.
void add_run_flags(OptionFlags& flags, CLI::App& app);

}  // namespace lehr
