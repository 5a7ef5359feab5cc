// The seeds and the extent of the property tests: the same little in each run, or what `scripts/test
// --thorough` asks for in the environment.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string_view>

namespace lehr::testing {

/// Returns `fixed`, or the number in LEHR_TEST_SEED. If that says `random`, it draws a number, which the
/// program prints.
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

/// Returns `few`, or the number in LEHR_TEST_CONFIGS.
inline std::int64_t configs_wanted(std::int64_t few) {
  const char* const wanted = std::getenv("LEHR_TEST_CONFIGS");
  return wanted != nullptr ? std::strtoll(wanted, nullptr, 10) : few;
}

}  // namespace lehr::testing
