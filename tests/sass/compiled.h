// Emitted text through NVRTC and nvdisasm: what one compilation has made of it.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "codegen/source.h"
#include "measure/cuda/nvrtc.h"
#include "sass.h"

namespace lehr::sass {

/// A sentence, where NVRTC or nvdisasm is missing.
std::optional<std::string> why_skipped();

struct Machine {
  std::string ptx;
  std::string listing;                ///< nvdisasm's
  std::vector<Instruction> function;  ///< parsed
};
/// Throws Error(kEnvironment) where nvdisasm does not read the cubin.
std::variant<Machine, Failure> compiled(NvrtcCompiler& compiler, const Source& source);

/// How many configs a test takes: LEHR_SASS_CONFIGS in the environment, or `otherwise`.
std::int64_t configs_wanted(std::int64_t otherwise);

}  // namespace lehr::sass

/// At the beginning of a test that needs both; in CI it fails without them.
#define SKIP_WITHOUT_NVRTC_AND_NVDISASM()                                          \
  if (const auto reason = ::lehr::sass::why_skipped()) {                           \
    if (std::getenv("LEHR_CI") != nullptr) FAIL() << "skipped in CI: " << *reason; \
    GTEST_SKIP() << *reason;                                                       \
  }                                                                                \
  static_assert(true)
