// Prints a kernel as readable text, for `lehr show --as ast`, error messages and golden tests.
#pragma once

#include <string>
#include <string_view>

#include "ir/kernel.h"

namespace lehr::ir {

std::string to_text(const Kernel& kernel);
std::string to_text(const Expr& expr, const Kernel& kernel);
std::string_view name_of(LoopKind kind);
std::string_view name_of(Scope scope);

}  // namespace lehr::ir
