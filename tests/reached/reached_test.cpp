// Checks that nothing lacks a caller: code that no program and no public header reaches is a test's, or goes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/reached/unreached.h"

namespace lehr::test {
namespace {

using testing::ElementsAre;
using testing::Pair;

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

/// Reads the objects, archives and maps. CMake wrote the list of them, and of the maps that their links made.
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

/// Functions that only tests call, and that cannot be elsewhere: they read what is private.
constexpr std::array kForTests = {
    std::string_view("lehr::CommandLine::app"),
    std::string_view("lehr::CompileWorkers::workers"),
    std::string_view("lehr::FamilySpace::read_ahead"),
    std::string_view("lehr::cudnn::Cudnn::start_without_device"),
    std::string_view("lehr::ir::intrinsic_rules"),
};

bool is_for_tests(const std::string& function) {
  return std::ranges::any_of(kForTests, [&](std::string_view each) { return function.starts_with(each); });
}

TEST(Reached, FindsWhatIsPlanted) {
  EXPECT_THAT(unreached(linked("planted")),
              ElementsAre(Pair("lehr::planted::Unused::value() const", "unused.cpp"),
                          Pair("lehr::planted::never_called(int)", "used.cpp"),
                          Pair("lehr::planted::offered(int)", "used.cpp")));
}

TEST(Reached, CountsMentionsOfAFunction) {
  const std::string header = "int not_offered(int value);\nint offered(int value);\n";
  EXPECT_EQ(mentions(header, "lehr::planted::offered(int)"), 1);
  EXPECT_EQ(mentions(header, "lehr::planted::never_called(int)"), 0);
  EXPECT_EQ(mentions("void walk(std::function<bool(int)> visit);",
                     "lehr::Tree::walk(std::function<bool (int)>) const"),
            1);
  EXPECT_EQ(mentions("std::string text() { return text(1); }", "lehr::text[abi:cxx11]()"), 2);
}

/// Returns the texts of all .cpp files by their names without folders. The files of runtime/ and plugin/ are
/// compiled as one, so each of their names has the whole text.
std::map<std::string, std::vector<std::string>> product_sources() {
  std::map<std::string, std::vector<std::string>> sources;
  std::vector<std::string> joined = {"whole.cpp"};
  std::string whole;
  for (const std::string& folder : lines_of(LEHR_REACHED_LISTS "/folders"))
    for (const auto& entry : std::filesystem::recursive_directory_iterator(LEHR_SOURCE_DIR "/" + folder)) {
      if (entry.path().extension() != ".cpp") continue;
      const std::string text = text_of(entry.path());
      sources[entry.path().filename()].push_back(text);
      if (folder != "runtime" && folder != "plugin") continue;
      joined.push_back(entry.path().filename());
      whole += text;
    }
  for (const std::string& name : joined) sources[name].push_back(whole);
  return sources;
}

// A short function may have been inlined where its own file calls it. In a group that only calls itself, the
// one that nobody calls is found, and the next once that is gone.
TEST(Reached, AllOfTheProductIsReached) {
  std::vector<std::string> headers;
  for (const std::string& header : lines_of(LEHR_SOURCE_DIR "/cmake/public_headers.txt"))
    headers.push_back(text_of(LEHR_SOURCE_DIR "/" + header));
  const std::map<std::string, std::vector<std::string>> sources = product_sources();
  for (const auto& [function, source] : unreached(linked("product"))) {
    const auto calls = [&](const std::string& text) { return mentions(text, function) > 1; };
    const auto declares = [&](const std::string& text) { return mentions(text, function) > 0; };
    EXPECT_TRUE(is_for_tests(function) || std::ranges::any_of(headers, declares) ||
                std::ranges::any_of(sources.at(source), calls))
        << "no program and no public header reaches " << function << " of " << source;
  }
}

}  // namespace
}  // namespace lehr::test
