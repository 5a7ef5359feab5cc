// A copy of a database that is open.
#pragma once

#include <string>

namespace lehr {

namespace sqlite {
class Connection;
}

/// Copies the committed content of an open database (its write-ahead log included) to `wanted`, or to
/// wanted.2, .3, ...
/// where that is taken, and returns that name. The file appears whole or not at all. Throws
/// Error(kEnvironment).
std::string save_copy(const sqlite::Connection& source, const std::string& wanted);

}  // namespace lehr
