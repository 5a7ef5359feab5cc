// The CPU of this machine as a target.
#pragma once

#include "measure/core/backend.h"
#include "measure/host/host_compiler.h"

namespace lehr {

extern const Backend kHostBackend;

/// How the host's compiler is found, and what it compiles for.
HostCompilerOptions host_compiler_options(const ToolPaths& tools, const IsaLevel* isa = nullptr);

}  // namespace lehr
