// Internal to verify.h: the rules of a kernel's declarations: names, buffers, parameters, clusters.
#pragma once

#include <optional>
#include <string>

#include "ir/kernel.h"

namespace lehr::ir {

/// Returns nullopt, or a complaint without its place.
std::optional<std::string> why_bad_declarations(const Kernel& kernel);

}  // namespace lehr::ir
