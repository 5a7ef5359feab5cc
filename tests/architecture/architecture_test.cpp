// Holds the tree as it is against the rules of ARCHITECTURE.md.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>

#include "tests/architecture/rules.h"
#include "tests/architecture/source_tree.h"

namespace lehr::test {
namespace {

const std::filesystem::path kRoot = LEHR_SOURCE_DIR;

class Architecture : public testing::Test {
 protected:
  static void SetUpTestSuite() { files_ = read_source_tree(kRoot); }

  static void expect_none(const std::vector<std::string>& findings) {
    for (const std::string& finding : findings) ADD_FAILURE() << finding;
  }

  static std::vector<SourceFile> files_;
};
std::vector<SourceFile> Architecture::files_;

TEST_F(Architecture, IsReadWhole) {
  std::set<std::string> folders;
  for (const SourceFile& file : files_) folders.insert(file.folder);
  for (const std::string& folder : all_folders())
    EXPECT_TRUE(folders.contains(folder)) << folder << " has no source";
}

TEST_F(Architecture, HasOnlyTheEdgesOfItsTable) {
  expect_none(check_edges(files_));
}

TEST_F(Architecture, HasRoomsInMeasureThatKeepToTheirTable) {
  expect_none(check_rooms(files_));
  const std::string document = read_text(kRoot / "measure/README.md");
  for (const FolderRule& rule : measure_rooms()) {
    const std::size_t row = document.find("| `" + rule.folder + "/` |");
    ASSERT_NE(row, std::string::npos) << "measure/README.md has no row for " << rule.folder;
    const std::string line = document.substr(row, document.find('\n', row) - row);
    EXPECT_TRUE(line.ends_with("| " + describe(rule) + " |"))
        << line << "\nshould end in: " << describe(rule);
  }
}

TEST_F(Architecture, TouchesEachLibraryInOneFile) {
  for (const char* header : {"xgboost/c_api.h", "sqlite3.h", "zlib.h"})
    expect_none(check_single_user(files_, header));
}

/// A program's flags and its results are api/'s, so C++ and Python get them the same way.
TEST_F(Architecture, HasCommandsThatAreFacesOfTheLibrary) {
  const std::set<std::string> allowed = {"api", "base", "cli"};
  for (const char* command : {"apply", "best", "export", "model", "optimize", "tune", "verify"}) {
    const std::string stem = fmt::format("cli/{}_command.", command);
    const auto found = std::ranges::count_if(files_, [&](const SourceFile& file) {
      if (!file.path.starts_with(stem)) return false;
      for (const Include& each : file.includes)
        EXPECT_TRUE(!each.quoted || allowed.contains(each.path.substr(0, each.path.find('/'))))
            << file.path << ':' << each.line << " includes " << each.path
            << ", which api/ is to be asked for";
      return true;
    });
    EXPECT_EQ(found, 2) << stem;
  }
}

// Code grows by wishes that are each reasonable. A commit that needs more lines changes the figure, and says
// in its message what they are worth.
TEST_F(Architecture, KeepsToItsBudgetOfLines) {
  const std::map<std::string, std::size_t> budget = budget_of(read_text(kRoot / "ARCHITECTURE.md"));
  for (const auto& [folder, lines] : lines_of_code(files_)) {
    const auto most = budget.find(folder);
    ASSERT_NE(most, budget.end()) << folder << " has " << lines << " lines of code and no row in the budget";
    EXPECT_LE(lines, most->second) << folder << " is over the budget of ARCHITECTURE.md";
  }
}

TEST_F(Architecture, NeedsNoCudaHeaderToBuild) {
  expect_none(check_absent(files_, {"nvrtc.h", "cuda.h", "cuda_runtime.h", "cuda_runtime_api.h", "cublasLt.h",
                                    "cublas_v2.h", "cudnn.h"}));
}

TEST_F(Architecture, NamesATargetOnlyInItsRooms) {
  expect_none(check_target_names(files_));
}

TEST_F(Architecture, AsksForAnOperatorOnlyInItsRooms) {
  expect_none(check_operator_names(files_));
}

TEST_F(Architecture, LeavesTheCallersProcessAlone) {
  expect_none(check_manners(files_));
}

TEST_F(Architecture, SaysAtTheTopOfEachHeaderWhatItIsFor) {
  expect_none(check_header_form(files_));
}

TEST_F(Architecture, GivesEachTypeANameOfItsOwn) {
  expect_none(check_type_names(files_));
}

TEST_F(Architecture, HasCommentsThatBeginWithTheirSubjects) {
  expect_none(check_comments(files_));
}

TEST_F(Architecture, IncludesWhatIsPrecompiledForIt) {
  expect_none(check_precompiled(files_));
  EXPECT_NE(read_text(kRoot / "cmake/lehr.cmake").find(precompiled_headers()), std::string::npos)
      << precompiled_headers();
}

TEST_F(Architecture, ExplainsEveryFolder) {
  for (const std::string& folder : all_folders())
    EXPECT_FALSE(read_text(kRoot / folder / "README.md").empty()) << folder << "/README.md is missing";
}

TEST_F(Architecture, BuildsEverySourceThatIsThere) {
  for (const SourceFile& file : files_) {
    if (!file.path.ends_with(".cpp") || file.folder == "tests" || file.folder == "bench") continue;
    const std::filesystem::path path(file.path);
    // The list is in the source's own folder or in one above it.
    bool listed = false;
    for (std::filesystem::path at = path.parent_path(); !at.empty() && !listed; at = at.parent_path()) {
      const std::string list = read_text(kRoot / at / "CMakeLists.txt");
      const std::filesystem::path relative = path.lexically_relative(at);
      const std::filesystem::path pattern = relative.parent_path().parent_path() / "*/*.cpp";
      const bool is_below_rooms = std::distance(relative.begin(), relative.end()) == 3;
      listed = list.find(relative.generic_string()) != std::string::npos ||
               list.find("DEPENDS " + pattern.generic_string()) != std::string::npos ||
               (is_below_rooms && list.find("DEPENDS */*/*.cpp") != std::string::npos);
    }
    EXPECT_TRUE(listed) << file.path << " is named in no CMakeLists.txt";
  }
}

TEST_F(Architecture, IsDrawnInItsDocumentWithTheSameTable) {
  const std::string document = read_text(kRoot / "ARCHITECTURE.md");
  for (const FolderRule& rule : folder_rules()) {
    const std::size_t row = document.find("| `" + rule.folder + "/` |");
    ASSERT_NE(row, std::string::npos) << "ARCHITECTURE.md has no row for " << rule.folder;
    const std::string line = document.substr(row, document.find('\n', row) - row);
    EXPECT_TRUE(line.ends_with("| " + describe(rule) + " |"))
        << line << "\nshould end in: " << describe(rule);
  }
}

}  // namespace
}  // namespace lehr::test
