// Compiles the texts of the runtime and of the plug-in.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/host/host_compiler.h"

namespace lehr {

/// Texts or compiled objects, by their names.
using Texts = std::map<std::string, std::string>;

/// Compiles the texts. Returns the compiled objects, by the names of the texts. Throws Error(kEnvironment) if
/// a text does not compile.
Texts compiled(const Texts& texts, HostCompiler& compiler);

/// Returns `options` for the instruction set `isa` and with additional flags. The flags remove symbols that
/// are not needed, such as the name of a temporary file.
HostCompilerOptions stripped(HostCompilerOptions options, const std::vector<std::string>& flags,
                             const Isa& isa);
/// Returns options for compiling shipped texts, so that they run on any processor of this architecture.
/// `more` is an additional flag.
HostCompilerOptions generic(const HostCompilerOptions& compiler, const char* more);

}  // namespace lehr
