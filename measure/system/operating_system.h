// The operating system's name.
#pragma once

#include <string>

namespace lehr {

/// "Linux 6.1 x86_64": patch levels do not change what a time means. "" where it does not tell.
std::string operating_system();

}  // namespace lehr
