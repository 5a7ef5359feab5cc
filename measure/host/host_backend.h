// The CPU of this machine as a target.
#pragma once

#include <string>

#include "measure/core/backend.h"
#include "measure/host/host_compiler.h"

namespace lehr {

extern const Backend kHostBackend;

/// Returns options with the places to look for the host's compiler, and the instruction set to compile for.
HostCompilerOptions host_compiler_options(const ToolPaths& tools, const Isa& isa = {});

/// Returns the level native with the features that both this processor and the compiler have. There are no
/// features if there is no compiler.
Isa native_isa(const ToolPaths& tools);

/// Returns a feature that the compiler uses for `isa` and that this processor lacks; "" if there is no such
/// feature. Throws Error(kEnvironment) if there is no compiler, or if the compiler does not know the level or
/// one of its features.
std::string missing_for(const Isa& isa, const ToolPaths& tools);

}  // namespace lehr
