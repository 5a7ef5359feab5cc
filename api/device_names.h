// Names of devices, levels and libraries as people give them: the values of --device, --isa and --baseline.
#pragma once

#include <string>
#include <vector>

#include "api/lehr.h"
#include "target/archs.h"
#include "tune/open_device.h"

namespace lehr {

/// Reads the names: "--device auto | cpu | cuda | cuda:N", "--isa LEVEL+FEATURE...". A level of `isa` chooses
/// the target that has it. Throws Error(kUser) with one sentence for a name that is not valid, and for more
/// threads than there are CPUs.
DeviceChoice choice_of(const api::DeviceOptions& options);

/// Reads "--baseline a,b": vendor libraries of the target, and kUnfused if the target can have it. Returns
/// usual_baselines() for "". Throws Error(kUser) for a library that is not known.
std::vector<std::string> chosen_baselines(Target target, const std::string& flag);
/// Returns the flag's help, with all libraries that this build knows.
std::string baseline_help();

/// Returns --isa's help: native, and the levels of this machine's architecture with their features.
std::string isa_help();
/// Returns the help of --isa where it chooses among winners.
std::string isa_filter_help();

/// Reads a level as isa_named() does. Also throws Error(kUser) for a level of another architecture.
Isa parse_isa(const std::string& text);

/// Lists for `lehr doctor` the levels, and the features beyond them, that can be tuned for here. Throws
/// Error(kEnvironment) if there is no compiler.
std::string describe_isa_levels(const ToolPaths& tools);

}  // namespace lehr
