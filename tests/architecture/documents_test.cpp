// Holds README.md, CONTRIBUTING.md and docs/ to what they promise a reader: they are short, and every link,
// command and path in them exists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/architecture/rules.h"
#include "tests/architecture/source_tree.h"

namespace lehr::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
namespace fs = std::filesystem;

const fs::path kSourceRoot = LEHR_SOURCE_DIR;

/// Returns the first group of every match.
std::vector<std::string> all_matches(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator at(text.begin(), text.end(), regex), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

/// Returns the targets of links into this repository, without what follows a '#'.
std::vector<std::string> linked_files(const std::string& text) {
  std::vector<std::string> files = all_matches(text, R"(\]\(([^)#]+)[^)]*\))");
  std::erase_if(files, [](const std::string& file) { return file.find("://") != std::string::npos; });
  return files;
}

/// Returns the command of every `lehr COMMAND`.
std::vector<std::string> named_commands(const std::string& text) {
  return all_matches(text, R"((?:^|[^A-Za-z0-9_./-])lehr ([a-z]+))");
}

/// Returns the paths from the root that begin with one of the repository's folders. A built program stands
/// for its source.
std::vector<std::string> named_paths(const std::string& text) {
  std::string folders = "scripts|docs";
  for (const std::string& folder : all_folders()) folders += "|" + folder;
  std::vector<std::string> paths =
      all_matches(text, "(?:^|[^A-Za-z0-9_.*/-])((?:" + folders + ")/[A-Za-z0-9_./-]*[A-Za-z0-9_])");
  for (const std::string& program : all_matches(text, "build/[a-z]+/(bench/[a-z_]+)"))
    paths.push_back(program + ".cpp");
  return paths;
}

/// True of a path that stands for a file which somebody may add: templates/NAME.h.
bool is_placeholder(const std::string& path) {
  return path.find("NAME") != std::string::npos;
}

/// Returns README.md, CONTRIBUTING.md and every page of docs/, relative to the root.
std::vector<std::string> pages() {
  std::vector<std::string> found = {"README.md", "CONTRIBUTING.md"};
  for (const auto& entry : fs::directory_iterator(kSourceRoot / "docs"))
    if (entry.path().extension() == ".md") found.push_back("docs/" + entry.path().filename().string());
  return found;
}

/// Returns the commands of `lehr`: cli/tune_command.h, ..., and those of cli/about_commands.h.
std::set<std::string> commands() {
  std::set<std::string> found = {"help", "version", "completions", "man"};
  for (const auto& entry : fs::directory_iterator(kSourceRoot / "cli")) {
    const std::string name = entry.path().filename().string(), ending = "_command.h";
    if (name.ends_with(ending)) found.insert(name.substr(0, name.size() - ending.size()));
  }
  return found;
}

TEST(Documents, OfTheRootAreShortAndBeginWithACommand) {
  std::istringstream text(read_text(kSourceRoot / "README.md"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  EXPECT_LE(lines.size(), 120u) << "README.md: results go to docs/results.md, the rest to docs/ by reader";
  const auto first = std::find_if(lines.begin(), lines.end(),
                                  [](const std::string& line) { return line.starts_with("    scripts/"); });
  EXPECT_LT(first - lines.begin(), 25) << "README.md: its first command comes too late";
  const std::string contributing = read_text(kSourceRoot / "CONTRIBUTING.md");
  EXPECT_LE(std::ranges::count(contributing, '\n'), 120) << "CONTRIBUTING.md: lists of files, no more";
}

TEST(Documents, NameTheLicence) {
  EXPECT_THAT(read_text(kSourceRoot / "LICENSE"), testing::HasSubstr("Version 2.0, January 2004"));
  EXPECT_THAT(read_text(kSourceRoot / "README.md"),
              testing::HasSubstr("Apache-2.0, see [`LICENSE`](LICENSE)"));
}

TEST(Documents, LinkOnlyToWhatIsThere) {
  std::vector<std::string> linking = pages();
  linking.insert(linking.end(), {"ARCHITECTURE.md", "CHANGELOG.md"});
  for (const std::string& page : linking) {
    const fs::path folder = (kSourceRoot / page).parent_path();
    for (const std::string& file : linked_files(read_text(kSourceRoot / page)))
      EXPECT_TRUE(fs::exists(folder / file)) << page << " links to " << file;
  }
}

TEST(Documents, OfTheFolderDocsAreListedThere) {
  const std::vector<std::string> listed = linked_files(read_text(kSourceRoot / "docs/README.md"));
  for (const auto& entry : fs::directory_iterator(kSourceRoot / "docs")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".md") || name == "README.md") continue;
    EXPECT_THAT(listed, testing::Contains(name));
  }
}

TEST(Documents, ShowOnlyCommandsThatExist) {
  const std::set<std::string> known = commands();
  ASSERT_TRUE(known.contains("tune"));
  for (const std::string& page : pages()) {
    for (const std::string& command : named_commands(read_text(kSourceRoot / page)))
      EXPECT_TRUE(known.contains(command)) << page << " shows lehr " << command;
  }
}

TEST(Documents, NameOnlyPathsThatExist) {
  for (const std::string& page : pages()) {
    for (const std::string& path : named_paths(read_text(kSourceRoot / page)))
      EXPECT_TRUE(is_placeholder(path) || fs::exists(kSourceRoot / path)) << page << " names " << path;
  }
}

TEST(DocumentRules, ReadLinksCommandsAndPaths) {
  EXPECT_THAT(linked_files("[a](docs/a.md#b), [c](#c), [`d`](../d.md) and [e](https://e.org/f)"),
              ElementsAre("docs/a.md", "../d.md"));
  EXPECT_THAT(named_commands(
                  "Lehr has `lehr best`;\n    lehr db stats\n    lehr --version\n  rm lehr.db x/lehr doctor"),
              ElementsAre("best", "db"));
  EXPECT_THAT(
      named_paths(
          "`scripts/test` or bench/gpu/run. Then `build/ci/bench/score_bench`, not a/base/b or base/"),
      ElementsAre("scripts/test", "bench/gpu/run", "bench/score_bench.cpp"));
  EXPECT_THAT(named_paths("[page](../bench/results/x.md)"), IsEmpty());
}

}  // namespace
}  // namespace lehr::test
