// Object files -> an archive for a linker.
#pragma once

#include <map>
#include <string>

#include "measure/host/host_compiler.h"

namespace lehr {

/// The archive of these object files, by the names of its members, without their local symbols: the same
/// objects give the same bytes. `ar` and `strip` (binutils) are looked for where the compiler is. Throws
/// Error(kEnvironment).
std::string archive_of(const std::map<std::string, std::string>& objects,
                       const HostCompilerOptions& compiler);

}  // namespace lehr
