// The codegen tests' main: gtest's own plus --update-golden.
#include <gtest/gtest.h>

#include <string_view>

#include "tests/support/golden.h"

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "--update-golden") lehr::testing::set_update_golden(true);
  }
  return RUN_ALL_TESTS();
}
