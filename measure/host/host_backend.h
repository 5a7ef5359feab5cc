// The CPU of this machine as a target.
#pragma once

#include <string>

#include "measure/core/backend.h"
#include "measure/host/host_compiler.h"

namespace lehr {

extern const Backend kHostBackend;

/// How the host's compiler is found, and what it compiles for.
HostCompilerOptions host_compiler_options(const ToolPaths& tools, const Isa& isa = {});

/// Native, with the abilities that this processor and the compiler have both: none where there is no
/// compiler.
Isa native_isa(const ToolPaths& tools);

/// A feature that the compiler uses for it and this processor lacks; "": there is none. Throws
/// Error(kEnvironment) where there is no compiler, or it does not know the level or one of its features.
std::string missing_for(const Isa& isa, const ToolPaths& tools);

}  // namespace lehr
