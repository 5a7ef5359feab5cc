// Compiles texts that go into a library or beside one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/host/host_compiler.h"

namespace lehr {

/// Texts, or the results of compiling them, by their names.
using Texts = std::map<std::string, std::string>;

/// Returns the shared objects of these texts, by the same names. Throws Error(kEnvironment) if one does not
/// compile.
Texts compiled(const Texts& texts, HostCompiler& compiler);

/// Returns `options` with more flags and for another `isa`, and without unused symbols such as the name of a
/// temporary file.
HostCompilerOptions stripped(HostCompilerOptions options, const std::vector<std::string>& flags,
                             const Isa& isa);
/// Returns options for shipped texts: for any processor of this architecture.
HostCompilerOptions generic(const HostCompilerOptions& compiler, const char* more);

}  // namespace lehr
