// The CPU's rows of the tables in target/: C++ for g++ and clang++ with GNU vector extensions.
#pragma once

#include <string>
#include <vector>

#include "target/archs.h"
#include "target/dialect.h"

namespace lehr {

extern const Dialect kCpuDialect;
extern const Archs kCpuArchs;

std::string cpu_snippet(const std::string& name);
std::vector<std::string> cpu_snippets_needed_by(const std::string& name);

}  // namespace lehr
