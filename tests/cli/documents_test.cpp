// Tests that the command line takes every `lehr ...` line of the pages, and that docs/ has every field of
// `lehr tune --json`.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <CLI/CLI.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "cli/app.h"
#include "support.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const fs::path kRoot = LEHR_SOURCE_DIR;

/// Returns the lines of code that begin with the program, each joined with the lines that continue it.
std::vector<std::string> lines_of(std::istream& page) {
  std::vector<std::string> found;
  bool goes_on = false;
  for (std::string line; std::getline(page, line);) {
    const std::string_view begin = "    lehr ";
    if (!goes_on && !line.starts_with(begin)) continue;
    if (!goes_on) found.emplace_back();
    goes_on = line.ends_with('\\');
    found.back() += line.substr(0, line.size() - (goes_on ? 1 : 0));
  }
  return found;
}

/// Returns a line's words as a shell has them, up to a pipe, a redirection or a comment.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool open = false;
  char quote = 0;
  const auto end_word = [&] {
    if (open) words.push_back(word);
    word.clear();
    open = false;
  };
  for (const char c : line) {
    if (quote != 0 ? c == quote : c == '"' || c == '\'') {
      quote = quote != 0 ? 0 : c;
      open = true;
    } else if (quote == 0 && (c == '|' || c == '>' || c == '#' || c == '&' || c == ';')) {
      break;
    } else if (quote == 0 && c == ' ') {
      end_word();
    } else {
      word += c;
      open = true;
    }
  }
  end_word();
  return words;
}

/// Returns why the command line does not take these words; "" if it does.
std::string refusal(const std::vector<std::string>& words) {
  if (std::ranges::find(words, "...") != words.end()) return "";  // the page leaves something out here
  CommandLine line;
  std::vector<std::string> reversed(words.rbegin(), words.rend() - 1);
  try {
    line.app().parse(reversed);
  } catch (const CLI::Success&) {
  } catch (const CLI::ParseError& error) {
    return error.what();
  }
  return "";
}

TEST(DocumentsOfCommands, ShowWhatTheCommandLineTakes) {
  std::vector<fs::path> pages = {kRoot / "README.md", kRoot / "CONTRIBUTING.md", kRoot / "bench/README.md"};
  for (const auto& entry : fs::directory_iterator(kRoot / "docs"))
    if (entry.path().extension() == ".md") pages.push_back(entry.path());
  std::size_t shown = 0;
  for (const fs::path& page : pages) {
    std::ifstream text(page);
    for (const std::string& line : lines_of(text)) {
      ++shown;
      EXPECT_EQ(refusal(words_of(line)), "") << page << ":" << line;
    }
  }
  EXPECT_GT(shown, 20U);
}

/// Adds the names of all fields at any depth, but not kinds of failures, which are counted by their names.
void add_fields(const nlohmann::json& document, std::set<std::string>& fields) {
  if (!document.is_structured()) return;
  for (const auto& [name, value] : document.items()) {
    if (document.is_object()) fields.insert(name);
    if (name != "failed") add_fields(value, fields);
  }
}

TEST(DocumentsOfCommands, NameEachFieldOfTuneJson) {
  const testing::Scratch scratch;
  std::ofstream(scratch.path() / "problems") << "gemm m=8 n=8 k=8\ngemm m=1..3 n=8 k=8\n";
  std::ifstream file(kRoot / "docs/json.md");
  const std::string page(std::istreambuf_iterator<char>(file), {});
  const std::string model = (kRoot / "examples/model/tiny.onnx").string();
  std::set<std::string> fields;
  for (const std::string& what : {std::string("--problems problems --trials 8 --no-baseline"),
                                  "--model " + model + " --dim batch=1 --trials 1 --no-baseline",
                                  std::string("gemm --m 8 --n 8 --k 8 --trials 1 --deterministic-check"),
                                  std::string("gemm --m 8 --n 8 --k 8 --trials 0")}) {
    const std::string line = "tune " + what + " --device cpu --threads 1 --json";
    add_fields(testing::parsed(testing::run_lehr(testing::words(line), scratch.path())), fields);
  }
  EXPECT_GT(fields.size(), 90U);
  for (const std::string& field : fields)  // "`best`", "`best.record`"
    EXPECT_THAT(page, ::testing::AnyOf(HasSubstr("`" + field + "`"), HasSubstr("." + field + "`"))) << field;
}

TEST(DocumentsOfCommands, ReadLinesAsAShellDoes) {
  std::istringstream page(
      "text\n    lehr tune \\\n        gemm --m 1 # note\n    ls\n    lehr show \"gemm m=1\" | "
      "less\n");
  const std::vector<std::string> lines = lines_of(page);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(words_of(lines[0]), ::testing::ElementsAre("lehr", "tune", "gemm", "--m", "1"));
  EXPECT_THAT(words_of(lines[1]), ::testing::ElementsAre("lehr", "show", "gemm m=1"));
  EXPECT_NE(refusal({"lehr", "tune", "gemm", "--no-such-flag", "1"}), "");
}

}  // namespace
}  // namespace lehr
