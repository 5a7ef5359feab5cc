#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace lehr::testing {
namespace {

bool update_golden = false;

}  // namespace

void set_update_golden(bool update) {
  update_golden = update;
}

void expect_golden(const std::string& name, const std::string& text) {
  expect_generated("tests/golden/" + name, text);
}

void expect_generated(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(LEHR_SOURCE_DIR) / name;
  if (update_golden) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  ASSERT_TRUE(file) << path << " is missing; run the test program with --update-golden";
  std::istringstream got(text);
  std::string want_line;
  std::string got_line;
  for (int line = 1; std::getline(file, want_line); ++line) {
    ASSERT_TRUE(std::getline(got, got_line))
        << name << ": the text ends before line " << line << ": " << want_line;
    ASSERT_EQ(got_line, want_line) << name << " line " << line
                                   << "; if the change is meant, run the test program with --update-golden";
  }
  ASSERT_FALSE(std::getline(got, got_line)) << name << ": the text goes on with: " << got_line;
}

}  // namespace lehr::testing
