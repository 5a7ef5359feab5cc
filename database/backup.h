// A copy of a database beside it, made before anything in it is rearranged.
#pragma once

#include <string>

namespace lehr {

namespace sqlite {
class Connection;
}

/// Copies the committed content of an open database (its write-ahead log included) to `wanted`, or to
/// wanted.2, .3,
/// ... where that is taken, and returns that name. The file appears whole or not at all. Throws
/// Error(kEnvironment).
std::string save_copy(const sqlite::Connection& source, const std::string& wanted);

/// The same of the database at the absolute `path`, to "PATH.v<version>.bak".
std::string back_up(const std::string& path, int version);

}  // namespace lehr
