// The seeds and the number of cases of the property tests: few fixed cases in each run, or as many as
// `scripts/test --thorough` sets in the environment.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string_view>

namespace lehr::testing {

/// Returns `fixed`, or the number in LEHR_TEST_SEED if it is set. If LEHR_TEST_SEED is `random`, a number is
/// drawn and printed.
inline std::uint64_t test_seed(std::uint64_t fixed) {
  static const char* const wanted = std::getenv("LEHR_TEST_SEED");
  if (wanted == nullptr) return fixed;
  static const std::uint64_t seed = [] {
    const std::uint64_t drawn =
        std::string_view(wanted) == "random" ? std::random_device()() : std::strtoull(wanted, nullptr, 10);
    std::cout << "LEHR_TEST_SEED=" << drawn << "\n";
    return drawn;
  }();
  return seed;
}

/// Returns `few`, or the number in LEHR_TEST_CONFIGS if it is set.
inline std::int64_t configs_wanted(std::int64_t few) {
  const char* const wanted = std::getenv("LEHR_TEST_CONFIGS");
  return wanted != nullptr ? std::strtoll(wanted, nullptr, 10) : few;
}

}  // namespace lehr::testing
