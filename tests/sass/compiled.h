// The machine code of a compilation, by nvdisasm.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sass.h"

namespace lehr::sass {

/// Returns a sentence if nvdisasm is missing.
std::optional<std::string> why_no_nvdisasm();

struct Listing {
  std::string text;
  std::vector<Instruction> function;  ///< parsed
};
/// Throws Error(kEnvironment) where nvdisasm does not read the cubin.
Listing disassembled(const std::string& cubin);

}  // namespace lehr::sass

/// Stands at the beginning of a test that needs what `reason` misses. In CI the test fails without it.
#define SKIP_WITHOUT(reason)                                                    \
  if (const std::optional<std::string> why = reason) {                          \
    if (std::getenv("LEHR_CI") != nullptr) FAIL() << "skipped in CI: " << *why; \
    GTEST_SKIP() << *why;                                                       \
  }                                                                             \
  static_assert(true)
