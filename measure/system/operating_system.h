// The operating system's name.
#pragma once

#include <string>

namespace lehr {

/// Returns "Linux 6.1 x86_64": patch levels do not change a time's meaning. "" if it is not known.
std::string operating_system();

}  // namespace lehr
