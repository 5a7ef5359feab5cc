// Rules of what the main loop of a kernel must not do.
#pragma once

#include <optional>
#include <string>

#include "sass.h"

namespace lehr::sass {

/// Returns a sentence if the instruction does not belong into a main loop.
std::optional<std::string> why_forbidden(const Instruction& instruction);

}  // namespace lehr::sass
