// Copies of an open database.
#pragma once

#include <string>

namespace lehr {

namespace sqlite {
class Connection;
}

/// Copies the committed content of an open database (including its write-ahead log) to the file `wanted`, or
/// to wanted.2, wanted.3, ... if `wanted` exists. Returns the name of the file. The file appears complete or
/// not at all. Throws Error(kEnvironment).
std::string save_copy(const sqlite::Connection& source, const std::string& wanted);

}  // namespace lehr
