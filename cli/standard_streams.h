// What a command prints is written, or the command fails.
#pragma once

#include <string>

namespace lehr {

/// Before anything is opened: descriptors 0 to 2 that are closed become /dev/null, so that no file takes
/// their number. What is printed to a closed stdout is not written; to a closed stderr it is lost.
void keep_standard_streams();

/// Flushes stdout: "", or why what was printed to it could not be written, one sentence without a full stop.
std::string why_unwritten();

}  // namespace lehr
