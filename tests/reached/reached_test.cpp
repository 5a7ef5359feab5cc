// Nothing without a caller: what no program and no public header reaches is a test's, or goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <sstream>

#include "tests/reached/unreached.h"

namespace lehr::test {
namespace {

using testing::ElementsAre;

std::string text_of(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::string> lines_of(const std::string& path) {
  std::istringstream text(text_of(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);)
    if (!line.empty()) lines.push_back(line);
  return lines;
}

/// CMake wrote which objects and archives there are, and which maps their links made.
Linked linked(const std::string& name) {
  Linked result;
  const std::string lists = LEHR_REACHED_LISTS "/" + name;
  std::string command = LEHR_NM " --defined-only";
  for (const std::string& object : lines_of(lists + ".objects")) command += " '" + object + "'";
  FILE* const nm = ::popen(command.c_str(), "r");
  for (char part[4096]; const std::size_t count = std::fread(part, 1, sizeof part, nm);)
    result.symbols.append(part, count);
  EXPECT_EQ(::pclose(nm), 0) << command;
  for (const std::string& map : lines_of(lists + ".maps")) result.maps.push_back(text_of(map));
  return result;
}

TEST(Reached, FindsWhatIsPlanted) {
  const std::set<std::string> found = unreached(linked("planted"));
  EXPECT_THAT(found, ElementsAre("lehr::planted::Unused::Unused(int)", "lehr::planted::Unused::value() const",
                                 "lehr::planted::never_called(int)", "lehr::planted::offered(int)"));
  const std::vector<std::string> headers = {"int not_offered(int value);\nint offered(int value);\n"};
  EXPECT_TRUE(is_named_in(headers, "lehr::planted::offered(int)"));
  EXPECT_FALSE(is_named_in(headers, "lehr::planted::never_called(int)"));
  EXPECT_FALSE(is_named_in({"int not_offered(int value);"}, "lehr::planted::offered(int)"));
  EXPECT_TRUE(is_named_in({"void walk(std::function<bool(int)> visit);"},
                          "lehr::Tree::walk(std::function<bool (int)>) const"));
}

TEST(Reached, AllOfTheProductIsReached) {
  std::vector<std::string> headers;
  for (const std::string& header : lines_of(LEHR_SOURCE_DIR "/cmake/public_headers.txt"))
    headers.push_back(text_of(LEHR_SOURCE_DIR "/" + header));
  for (const std::string& function : unreached(linked("product")))
    EXPECT_TRUE(is_named_in(headers, function)) << "no program and no public header reaches " << function;
}

}  // namespace
}  // namespace lehr::test
