// `--isa`: what kernels for the CPU are made for, where it is not the machine at hand.
#pragma once

#include <string>

#include "cli/environment.h"
#include "target/archs.h"

namespace lehr {

/// The flag's help: native, and the levels of this machine's architecture.
std::string isa_help();
/// That of the same flag where it chooses among winners.
std::string isa_filter_help();

/// nullptr for "native". Throws Error(kUser) for a level that is not known, or of another architecture.
const IsaLevel* parse_isa(const std::string& text);

/// Throws Error(kEnvironment), one sentence, where this processor lacks something that the compiler at hand
/// uses for that level, and where the compiler does not know the level.
void check_runs_here(const IsaLevel& level, const Environment& environment);

/// For `lehr doctor`: which levels can be tuned for here. Throws Error(kEnvironment) where there is no
/// compiler.
std::string describe_isa_levels(const Environment& environment);

}  // namespace lehr
