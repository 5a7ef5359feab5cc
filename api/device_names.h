// Reads the names of devices, instruction set levels and vendor libraries: the values of --device, --isa and
// --baseline.
#pragma once

#include <string>
#include <vector>

#include "api/lehr.h"
#include "target/archs.h"
#include "tune/open_device.h"

namespace lehr {

/// Returns the device that the options choose: "--device auto | cpu | cuda | cuda:N", "--isa
/// LEVEL+FEATURE...". A level in `isa` chooses the target that has this level. Throws Error(kUser) with one
/// sentence if a name is not valid, or if the options ask for more threads than there are CPUs.
DeviceChoice choice_of(const api::DeviceOptions& options);

/// Returns the names in "--baseline a,b". They are vendor libraries of the target or, if the target supports
/// it, kUnfused. For "" it returns usual_baselines(). Throws Error(kUser) for a library that is not known.
std::vector<std::string> chosen_baselines(Target target, const std::string& flag);
/// Returns the help of --baseline, with all libraries that this build knows.
std::string baseline_help();

/// Returns --isa's help: native, and the levels of this machine's architecture with their features.
std::string isa_help();
/// Returns the help of --isa for commands in which the flag filters winners.
std::string isa_filter_help();

/// Returns the level and features as isa_named() does. Also throws Error(kUser) for a level of another
/// architecture than this machine's.
Isa parse_isa(const std::string& text);

/// Returns, for `lehr doctor`, the levels and additional features for which this machine can tune kernels.
/// Throws Error(kEnvironment) if there is no compiler.
std::string describe_isa_levels(const ToolPaths& tools);

}  // namespace lehr
