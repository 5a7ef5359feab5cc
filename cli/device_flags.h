// The flags of commands that choose a device.
#pragma once

#include <string_view>
#include <vector>

#include "api/device_names.h"
#include "cli/option_flags.h"

namespace lehr {

/// Adds those of DeviceOptions, or the members that are named, among them `isa`, with what they take here.
void add_device_flags(OptionFlags& flags, CLI::App& app, const std::vector<std::string_view>& members = {});
/// Adds those that say where a kernel is run, and for how long it may.
void add_run_flags(OptionFlags& flags, CLI::App& app);

}  // namespace lehr
