// The CPU of this machine as a target.
#pragma once

#include <string>

#include "measure/core/backend.h"
#include "measure/host/host_compiler.h"

namespace lehr {

extern const Backend kHostBackend;

/// How the host's compiler is found, and what it compiles for.
HostCompilerOptions host_compiler_options(const ToolPaths& tools, const IsaLevel* isa = nullptr);

/// A feature that the compiler uses for that level and this processor lacks; "": there is none. Throws
/// Error(kEnvironment) where there is no compiler, or it does not know the level.
std::string missing_for(const IsaLevel* isa, const ToolPaths& tools);

}  // namespace lehr
