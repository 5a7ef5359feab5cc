// How people name devices, levels and libraries: the values of --device, --isa and --baseline.
#pragma once

#include <string>
#include <vector>

#include "api/lehr.h"
#include "target/archs.h"
#include "tune/open_device.h"

namespace lehr {

/// Reads the names: "--device auto | cpu | cuda | cuda:N", "--isa LEVEL+FEATURE...". A level of `isa` chooses
/// the target that has it. Throws Error(kUser), one sentence, for these and for more threads than there are
/// CPUs.
DeviceChoice choice_of(const api::DeviceOptions& options);

/// "--baseline a,b": vendor libraries of the target, and kUnfused where it can be. "": usual_baselines().
/// Throws Error(kUser) for one that is not known.
std::vector<std::string> chosen_baselines(Target target, const std::string& flag);
/// The flag's help: all that this build knows.
std::string baseline_help();

/// --isa's help: native, and the levels of this machine's architecture with their features.
std::string isa_help();
/// That of the same flag where it chooses among winners.
std::string isa_filter_help();

/// As isa_named(). Throws Error(kUser) for a level of another architecture, too.
Isa parse_isa(const std::string& text);

/// For `lehr doctor`: which levels and which features beyond them can be tuned for here. Throws
/// Error(kEnvironment) where there is no compiler.
std::string describe_isa_levels(const ToolPaths& tools);

}  // namespace lehr
