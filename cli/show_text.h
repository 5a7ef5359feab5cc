// The four forms in which `lehr show` prints a kernel. Each function adds one form to a JSON document and to
// a text.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "base/limits.h"
#include "codegen/source.h"
#include "ir/kernel.h"
#include "measure/core/compiler.h"

namespace lehr {

void show_ast(const ir::Kernel& kernel, nlohmann::json& document, std::string& text);
void show_source(const Source& source, nlohmann::json& document, std::string& text);
void show_features(const ir::Kernel& kernel, const Limits& limits, nlohmann::json& document,
                   std::string& text);
/// Compiles the source. Returns the exit code: 0, or 1 if the compiler refuses the source. The compiler's log
/// is added in both cases.
int show_log(const Source& source, Compiler& compiler, nlohmann::json& document, std::string& text);

}  // namespace lehr
