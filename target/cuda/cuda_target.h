// CUDA's rows of the tables in target/: CUDA C++ for NVRTC, no header included.
#pragma once

#include <string>
#include <vector>

#include "target/archs.h"
#include "target/dialect.h"

namespace lehr {

extern const Dialect kCudaDialect;
extern const Archs kCudaArchs;

std::string cuda_snippet(const std::string& name);
std::vector<std::string> cuda_snippets_needed_by(const std::string& name);

}  // namespace lehr
