// What compiles texts that go into a library or beside one.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "measure/host/host_compiler.h"

namespace lehr {

/// Texts, or what they were compiled to, by their names.
using Texts = std::map<std::string, std::string>;

/// The shared objects of these texts, by the same names. Throws Error(kEnvironment) where one does not
/// compile.
Texts compiled(const Texts& texts, HostCompiler& compiler);

/// `options` with more flags and for another `isa`, and without symbols that nobody asks for, among them the
/// name of a temporary file.
HostCompilerOptions stripped(HostCompilerOptions options, const std::vector<std::string>& flags,
                             const Isa& isa);
/// The same for shipped texts: for any processor of this architecture.
HostCompilerOptions generic(const HostCompilerOptions& compiler, const char* more);

}  // namespace lehr
