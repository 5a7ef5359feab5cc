// Small CUDA kernels for the emulator's own tests, in the form that the emitter writes.
#pragma once

#include <fmt/core.h>

#include <string>
#include <vector>

#include "base/error.h"
#include "codegen/source.h"
#include "target/dialect.h"

namespace lehr::testing {

/// Returns a kernel with one block of `threads` threads. `lehr_shared` is its shared memory and `t` the
/// thread's number.
inline Source kernel_text(std::vector<SourceParam> params, int threads, int shared_bytes,
                          const std::string& body, const std::string& prelude = "") {
  std::string declared;
  for (const SourceParam& param : params) {
    declared += declared.empty() ? "" : ", ";
    if (param.map) {
      declared += "const __grid_constant__ LehrTensorMap " + param.name;
      continue;
    }
    declared += fmt::format("{}{}* __restrict__ {}", param.direction == ir::Direction::kIn ? "const " : "",
                            scalar_name(param.type), param.name);
  }
  Source source;
  source.target = Target::kCuda;
  source.entry = "k";
  source.text = fmt::format(
      "{}extern \"C\" __global__ void __launch_bounds__({}) k({}) {{\n"
      "  extern __shared__ __align__(16) unsigned char lehr_shared[];\n  const int t = "
      "threadIdx.x;\n{}\n}}\n",
      prelude, threads, declared, body);
  source.params = std::move(params);
  source.launch.block = {threads, 1, 1};
  source.launch.shared_bytes = shared_bytes;
  return source;
}

/// Returns `text` with `what` replaced by `instead`. `what` must occur in `text`.
inline std::string replaced(std::string text, const std::string& what, const std::string& instead) {
  const std::size_t at = text.find(what);
  CHECK(at != std::string::npos, "'{}' is not in the text", what);
  return text.replace(at, what.size(), instead);
}

}  // namespace lehr::testing
