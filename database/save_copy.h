// Copies of an open database.
#pragma once

#include <string>

namespace lehr {

namespace sqlite {
class Connection;
}

/// Copies the committed content of an open database (its write-ahead log included) to `wanted`, or to
/// wanted.2, .3, ... if that is taken. Returns that name. The file appears whole or not at all. Throws
/// Error(kEnvironment).
std::string save_copy(const sqlite::Connection& source, const std::string& wanted);

}  // namespace lehr
