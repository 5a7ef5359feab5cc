// Tests of what the program says of itself: help, completions, the manual. All are made of the tree of
// commands.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <tuple>

#include "api/best.h"
#include "api/options.h"
#include "cli/app.h"
#include "cli/command_tree.h"
#include "cli/completions.h"
#include "cli/help.h"
#include "cli/manual.h"
#include "tests/cli/support.h"

namespace lehr::testing {
namespace {

using ::testing::HasSubstr;

bool is_here(const std::string& program) {
  return std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) == 0;
}

/// Returns what a line of a shell prints, on both streams, with `text` in the file "page".
std::string printed(const std::string& line, const std::string& text) {
  const Scratch scratch;
  std::ofstream(scratch.path() / "page") << text;
  const std::string command = fmt::format("cd '{}' && ({}) >out 2>&1", scratch.path().string(), line);
  EXPECT_EQ(std::system(command.c_str()), 0) << line;
  std::ifstream out(scratch.path() / "out");
  return {std::istreambuf_iterator<char>(out), std::istreambuf_iterator<char>()};
}

TEST(About, HelpSaysWhatTheFlagSays) {
  const Scratch scratch;
  for (const std::string command : {"", "tune", "tune gemm", "db merge", "best"}) {
    const Ran ran = run_lehr(words("help " + command), scratch.path());
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out, run_lehr(words(command + " --help"), scratch.path()).out);
  }
  EXPECT_THAT(run_lehr({"help", "tun"}, scratch.path()).err,
              HasSubstr("'lehr tun' is no command (did you mean tune?)"));
  const std::string version = run_lehr({"version"}, scratch.path()).out;
  for (const char* flag : {"--version", "-V"}) EXPECT_EQ(run_lehr({flag}, scratch.path()).out, version);
  EXPECT_THAT(run_lehr({"completions", "tcsh"}, scratch.path()).err, HasSubstr("bash, zsh, fish"));
}

TEST(About, EveryCommandAndFlagIsInEachPage) {
  CommandLine line;
  const CLI::App& root = line.app();
  const std::string bash = bash_completion(root), zsh = zsh_completion(root), fish = fish_completion(root),
                    manual = manual_page(root);
  int flags = 0;
  for (const CLI::App* command : commands_of(root)) {
    const std::string path = path_of(*command), in_bash = "    '" + path + "') words=";
    ASSERT_THAT(bash, HasSubstr(in_bash));
    const std::string words =
        bash.substr(bash.find(in_bash), bash.find('\n', bash.find(in_bash)) - bash.find(in_bash));
    EXPECT_THAT(zsh, HasSubstr("    '" + path + "') commands=("));
    EXPECT_THAT(manual, HasSubstr(command == &root ? ".TH LEHR 1" : ".SS " + path + "\n"));
    for (const Flag& flag : flags_of(*command)) {
      ++flags;
      const std::string& name = flag.names.back();
      EXPECT_THAT(words, HasSubstr(name)) << path;
      EXPECT_THAT(zsh, HasSubstr("'" + name + ":")) << path;
      EXPECT_THAT(fish, HasSubstr(fmt::format("'__lehr_at {}' ", path))) << path;
      EXPECT_THAT(fish, HasSubstr(" -l " + name.substr(2) + " ")) << path;
      std::string roff;
      for (const char c : name) roff += c == '-' ? "\\-" : std::string(1, c);
      EXPECT_THAT(manual, HasSubstr("\\fB" + roff + "\\fR")) << path;
      EXPECT_EQ(flag.takes_value, bash.find(fmt::format("'{} {}'", path, name)) != std::string::npos);
    }
  }
  EXPECT_GT(flags, 300);
}

/// Checks that completions know the words of options.
struct ChoicesOf {
  const std::vector<Flag>& flags;
  int* seen;
  void operator()(std::string_view member, const auto&, const api::OptionRow& row) const {
    for (const Flag& flag : flags)
      if (flag.names.back() == api::flag_of(member, row) && *row.choices != '\0') {
        EXPECT_EQ(flag.choices, api::choices_of(row)) << member;
        ++*seen;
      }
  }
};

TEST(About, ChoicesAreThoseOfTheOptions) {
  CommandLine line;
  int seen = 0;
  for (const CLI::App* command : commands_of(line.app())) {
    const std::vector<Flag> flags = flags_of(*command);
    const ChoicesOf choices = {flags, &seen};
    const std::tuple<const api::TuneOptions, const api::DeviceOptions, const api::BestOptions> all;
    if (path_of(*command).starts_with("lehr tune") || path_of(*command) == "lehr best")
      std::apply([&](const auto&... each) { (describe(choices, each), ...); }, all);
  }
  EXPECT_GT(seen, 8);
}

TEST(About, BashCompletes) {
  if (!is_here("bash")) GTEST_SKIP() << "there is no bash";
  CommandLine line;
  const auto completed = [&](const std::string& words) {
    const std::string script = fmt::format(
        "bash -c 'source page; COMP_WORDS=({}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); _lehr; echo "
        "${{COMPREPLY[*]}}; complete -p lehr'",
        words);
    return printed(script, bash_completion(line.app()));
  };
  const std::string how = "complete -o default -F _lehr lehr\n";
  EXPECT_EQ(completed("lehr tu"), "tune\n" + how);
  EXPECT_EQ(completed("lehr tune --ti"), "--time\n" + how);
  EXPECT_EQ(completed("lehr tune g"), "gemm\n" + how);
  EXPECT_EQ(completed("lehr tune gemm --m 8 --ca"), "--caches\n" + how);
  EXPECT_EQ(completed("lehr tune gemm --caches \"\""), "usual memory cold\n" + how);
  EXPECT_EQ(completed("lehr tune gemm --caches = m"), "memory\n" + how);
  EXPECT_EQ(completed("lehr best --db le"), "\n" + how);  // files are bash's
  EXPECT_EQ(completed("lehr help db v"), "verify\n" + how);
  EXPECT_EQ(completed("lehr completions z"), "zsh\n" + how);
}

TEST(About, PagesAreWhatTheirReadersTake) {
  CommandLine line;
  const CLI::App& root = line.app();
  const std::tuple<const char*, const char*, std::string> readers[] = {
      {"bash", "bash -n page", bash_completion(root)},
      {"zsh", "zsh -n page", zsh_completion(root)},
      {"fish", "fish -n page", fish_completion(root)},
      {"groff", "groff -ww -man -Tutf8 page >/dev/null", manual_page(root)},
      {"mandoc", "mandoc -T lint -W error page", manual_page(root)}};
  for (const auto& [reader, command, page] : readers) {
    if (is_here(reader)) {
      EXPECT_EQ(printed(command, page), "");
    }
  }
}

}  // namespace
}  // namespace lehr::testing
