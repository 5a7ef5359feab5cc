// A copy of a database beside it, made before anything in it is rearranged.
#pragma once

#include <string>

namespace lehr {

/// Copies the committed content of the database at the absolute `path` (its write-ahead log included) to
/// "PATH.v<version>.bak", or "PATH.v<version>.bak.2", .3, ... where that is taken, and returns that name. The
/// file appears whole or not at all. Throws Error(kEnvironment).
std::string back_up(const std::string& path, int version);

}  // namespace lehr
