// Tests of options by their rows: Python's keywords are made of the rows, and each row holds what the product
// accepts.
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <type_traits>

#include "api/best.h"
#include "api/options.h"
#include "api/verify.h"
#include "base/target.h"
#include "search/make_strategy.h"
#include "tests/support/golden.h"

namespace lehr::api {
namespace {

/// Returns the type of the Python keyword for an option.
std::string python_type(const auto& value, const OptionRow& row) {
  using T = std::remove_cvref_t<decltype(value)>;
  if (*row.choices != '\0') {
    std::string words;
    for (const std::string& word : choices_of(row)) words += (words.empty() ? "\"" : ", \"") + word + "\"";
    return "Literal[" + words + "]";
  }
  if constexpr (std::is_same_v<T, bool>) return "bool";
  if constexpr (std::is_same_v<T, double>) return "float | str";
  if constexpr (std::is_same_v<T, std::optional<double>>) return "float";
  if constexpr (std::is_integral_v<T>) return "int";
  if constexpr (std::is_same_v<T, std::string>) return "str | os.PathLike[str]";
  return "str";
}

/// Returns a TypedDict of the flags of these options.
template <typename... Options>
std::string python_class(const std::string& name, const std::string& about,
                         const std::string& required = "") {
  std::string text = "\n\nclass " + name + "(TypedDict, total=False):\n    \"\"\"" + about + "\"\"\"\n\n";
  const auto add = [&](std::string_view member, const auto& value, const OptionRow& row) {
    bool is_on = false;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>) is_on = value;
    std::string keyword = flag_of(member, row, is_on).substr(2);
    std::ranges::replace(keyword, '-', '_');
    const std::string type = python_type(value, row);
    text += "    " + keyword + ": " + (keyword == required ? "Required[" + type + "]" : type) + "\n";
  };
  const std::tuple<Options...> all;
  std::apply([&](const auto&... each) { (describe(add, each), ...); }, all);
  return text;
}

TEST(Options, AreTheKeywordsOfPython) {
  testing::expect_generated(
      "python/lehr/_flags.py",
      "\"\"\"Keywords of the functions, made of the options of the program (tests/api, "
      "--update-golden).\"\"\"\n\n"
      "import os\nfrom typing import Literal, Required, TypedDict\n" +
          python_class<DeviceOptions, TuneOptions>("Tune", "Flags of `lehr tune`.") +
          "    db: str | os.PathLike[str]\n    no_baseline: bool\n    scratch: str | os.PathLike[str]\n" +
          python_class<OptimizeOptions>("Optimize", "Flags of `lehr optimize`.") +
          "    input: str | list[str]\n    scratch: str | os.PathLike[str]\n" +
          python_class<BestOptions>("Best", "Flags of `lehr best`.") +
          python_class<ExportOptions>("Export", "Flags of `lehr export`.", "out") +
          "    scratch: str | os.PathLike[str]\n");
}

/// Counts the flags of a struct, and checks that each row has what a reader needs.
class Rows {
 public:
  void operator()(std::string_view member, const auto& value, const OptionRow& row) {
    SCOPED_TRACE(member);
    bool is_on = false;
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>) is_on = value;
    EXPECT_TRUE(flags.insert(flag_of(member, row, is_on)).second) << "two options have this flag";
    EXPECT_FALSE(std::string(row.help).empty());
    if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, int>) {
      EXPECT_LT(row.least, row.most);
    }
    EXPECT_NO_THROW(Checker()(member, value, row)) << "the default is not valid";
  }
  std::set<std::string> flags;
};

template <typename Options>
std::set<std::string> flags_of() {
  Rows rows;
  const Options usual;
  describe(rows, usual);
  return rows.flags;
}

TEST(Options, HaveRowsThatTheirDefaultsObey) {
  EXPECT_TRUE(flags_of<DeviceOptions>().contains("--run-timeout"));
  EXPECT_TRUE(flags_of<TuneOptions>().contains("--no-winograd"));
  EXPECT_TRUE(flags_of<ExportOptions>().contains("--db"));
  EXPECT_TRUE(flags_of<ApplyOptions>().contains("--no-engine"));
  EXPECT_TRUE(flags_of<OptimizeOptions>().contains("--out"));
  EXPECT_TRUE(flags_of<VerifyOptions>().contains("--tolerance"));
}

TEST(Options, ListTheTargetsThatThereAre) {
  std::string listed;
  const auto find = [&](std::string_view member, const auto&, const OptionRow& row) {
    if (member == "target") listed = row.help;
  };
  const BestOptions usual;
  describe(find, usual);
  EXPECT_EQ(listed, fmt::format("{}", fmt::join(target_names(), " | ")));
}

TEST(Options, ListTheStrategiesThatThereAre) {
  std::vector<std::string> listed;
  const auto find = [&](std::string_view member, const auto&, const OptionRow& row) {
    if (member == "strategy") listed = choices_of(row);
  };
  const TuneOptions usual;
  describe(find, usual);
  EXPECT_EQ(listed, strategy_names());
}

}  // namespace
}  // namespace lehr::api
