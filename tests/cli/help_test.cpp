// Tests of the help of every command, in every version of CLI11.
#include "cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <set>

#include "base/text.h"
#include "cli/app.h"
#include "tests/cli/support.h"

namespace lehr::testing {
namespace {

/// Visits every command and subcommand, with what is typed to reach it.
void for_each_command(const std::function<void(const std::string& path, const CLI::App& app)>& visit) {
  CommandLine line;
  const std::function<void(const std::string&, const CLI::App&)> walk = [&](const std::string& path,
                                                                            const CLI::App& app) {
    visit(path, app);
    for (const CLI::App* sub : app.get_subcommands([](const CLI::App*) { return true; }))
      walk(path + " " + sub->get_name(), *sub);
  };
  walk("lehr", line.app());
}

// CLI11 from 2.4 on refuses --h beside -h, as one name; 2.1 does not.
TEST(Help, NoCommandUsesANameTwiceLongOrShort) {
  int commands = 0;
  for_each_command([&](const std::string& path, const CLI::App& app) {
    ++commands;
    std::map<std::string, int> uses;
    for (const CLI::Option* option : app.get_options()) {
      for (const std::string& name : option->get_lnames()) ++uses[name];
      for (const std::string& name : option->get_snames()) ++uses[name];
    }
    for (const auto& [name, times] : uses) EXPECT_EQ(times, 1) << path << " has several " << name;
  });
  EXPECT_GT(commands, 20);
}

TEST(Help, LinesAreShorterThan100Characters) {
  for_each_command([](const std::string& path, const CLI::App& app) {
    for (const CLI::AppFormatMode mode : {CLI::AppFormatMode::Normal, CLI::AppFormatMode::All})
      for (const std::string& help = app.help(path, mode); const std::string_view line : split(help, '\n'))
        EXPECT_LT(line.size(), 100u) << line;
  });
}

TEST(Help, EveryFlagSaysWhatItDoesAndStandsInAGroup) {
  for_each_command([](const std::string& path, const CLI::App& app) {
    for (const CLI::Option* option : app.get_options()) {
      if (!option->nonpositional()) continue;
      EXPECT_FALSE(option->get_description().empty()) << path << " " << option->get_name();
      EXPECT_NE(option->get_group(), "Options") << path << " " << option->get_name();
    }
  });
}

TEST(Help, EveryExampleIsACommandThatIsThere) {
  std::set<std::string> paths;
  std::vector<std::string> examples;
  for_each_command([&](const std::string& path, const CLI::App& app) {
    paths.insert(path);
    const std::string footer = app.get_footer();
    for (std::size_t at = footer.find("  lehr "); at != std::string::npos;
         at = footer.find("  lehr ", at + 1))
      examples.push_back(footer.substr(at + 2, footer.find('\n', at) - at - 2));
  });
  EXPECT_GT(examples.size(), 20u);
  for (const std::string& example : examples) {
    const std::vector<std::string> parts = words(example);
    EXPECT_TRUE(paths.contains(parts[0] + " " + parts[1])) << example;
  }
}

TEST(Help, GroupsComeInOneOrder) {
  const Scratch scratch;
  const std::string help = run_lehr(words("tune conv2d --help"), scratch.path()).out;
  std::size_t before = 0;
  for (const char* group : {"\nProblem: ", "\nSearch:\n", "\nMeasuring:\n", "\nOutput:\n", "\nExamples:\n"}) {
    const std::size_t at = help.find(group);
    ASSERT_NE(at, std::string::npos) << group << help;
    EXPECT_GT(at, before);
    before = at;
  }
}

TEST(Help, TheHeightOfAConvolutionIsNoCallForHelp) {
  const Scratch scratch;
  EXPECT_EQ(run_lehr(words("show conv2d --h 8 --w 8 --c 4 --k 4 --r 3 --device cpu"), scratch.path()).code,
            0);
  EXPECT_THAT(run_lehr(words("tune conv2d -h"), scratch.path()).err, ::testing::HasSubstr("unknown flag -h"));
}

TEST(Help, TheProgramAloneSaysTheNextSteps) {
  const Scratch scratch;
  const Ran ran = run_lehr({}, scratch.path());
  EXPECT_EQ(ran.code, 0);
  for (const char* step : {"lehr doctor", "lehr tune", "lehr best"})
    EXPECT_THAT(ran.out, ::testing::HasSubstr(step));
}

TEST(Wrapped, BreaksBetweenWordsAndKeepsLines) {
  EXPECT_EQ(wrapped("one two three", 7), "one two\nthree");
  EXPECT_EQ(wrapped("a\nb c", 80), "a\nb c");
  EXPECT_EQ(wrapped("incomprehensible word", 4), "incomprehensible\nword");
  EXPECT_EQ(wrapped("", 4), "");
}

}  // namespace
}  // namespace lehr::testing
