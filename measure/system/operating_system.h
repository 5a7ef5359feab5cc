// The operating system's name.
#pragma once

#include <string>

namespace lehr {

/// Returns "Linux 6.1 x86_64"; "" if it is not known. The patch level is left out, since it does not affect
/// times.
std::string operating_system();

}  // namespace lehr
