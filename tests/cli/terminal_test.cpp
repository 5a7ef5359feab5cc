// Tests of tables that fit a terminal, and of the forms of `lehr best`.
#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utmp.h>

#include <cstdlib>
#include <filesystem>
#include <thread>

#include "base/text.h"
#include "measure/core/format.h"
#include "support.h"

namespace lehr::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// Parses a file of comma-separated fields, by RFC 4180.
std::vector<std::vector<std::string>> fields_of(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, std::vector<std::string>(1));
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool twice = quoted && text[i] == '"' && text[i + 1] == '"';
    if (text[i] == '"' && !twice)
      quoted = !quoted;
    else if (text[i] == ',' && !quoted)
      rows.back().emplace_back();
    else if (text[i] == '\n' && !quoted)
      rows.emplace_back(1, std::string());
    else
      rows.back().back() += text[twice ? i++ : i];
  }
  rows.pop_back();
  return rows;
}

std::vector<std::string> first_words(const std::vector<std::string_view>& lines, std::size_t from) {
  std::vector<std::string> found;
  for (std::size_t i = from; i < lines.size() && !lines[i].empty(); ++i)
    found.emplace_back(lines[i].substr(0, lines[i].find("  ")));
  return found;
}

TEST(Tables, KeepToAWidthByCuttingTextsAndThenLastColumns) {
  const std::vector<std::string> header = {"<name", "time", "<config"};
  const std::vector<std::vector<std::string>> rows = {{std::string(30, 'n'), "1.5", std::string(60, 'c')},
                                                      {"\xc3\xa4", "10.25", "x"}};
  for (std::size_t width = 31; width < 120; ++width) {
    const std::string table = format_table(header, rows, {.width = width});
    for (const std::string_view line : split(table, '\n')) EXPECT_LE(line.size(), width + 1) << table;
    EXPECT_THAT(table, HasSubstr("10.25")) << width;  // a number is whole or not there
  }
  EXPECT_EQ(format_table(header, rows, {.width = 99}), format_table(header, rows));
  EXPECT_THAT(format_table(header, rows, {.width = 70}),
              StartsWith("name                             time  config\n" + std::string(30, 'n') +
                         "    1.5  " + std::string(28, 'c') + "...\n"));
  EXPECT_EQ(format_table(header, rows, {.width = 50}),
            "name                            time  config\n" + std::string(26, 'n') + "...    1.5  " +
                std::string(9, 'c') + "...\n\xc3\xa4                              10.25  x\n");
  // The first text has half of the line, and a short one stays whole.
  EXPECT_EQ(format_table({"<name", "<when"}, {{std::string(30, 'n'), "2026-11-30 03:41"}}, {.width = 40}),
            "name                    when\n" + std::string(19, 'n') + "...  2026-11-30 03:41\n");
}

TEST(Tables, ColourTakesNoRoom) {
  TableLook look;
  look.paint = [](std::size_t row, std::size_t column) { return row == 1 && column == 1 ? kGreen : ""; };
  EXPECT_EQ(format_table({"<a", "b"}, {{"x", "1"}, {"y", "22"}}, look),
            "a   b\nx   1\ny  \033[32m22\033[0m\n");
}

/// Returns all that the program writes to a terminal of so many columns, which is all three of its streams.
std::string on_terminal(const std::string& command, const std::filesystem::path& directory,
                        unsigned short columns, const char* variable = "") {
  const std::vector<std::string> arguments = words(command);
  std::vector<char*> argv = {const_cast<char*>("lehr")};
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  winsize size = {};
  size.ws_row = 24;
  size.ws_col = columns;
  int terminal = -1, program_side = -1;
  EXPECT_EQ(openpty(&terminal, &program_side, nullptr, nullptr, &size), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(terminal);
    login_tty(program_side);
    for (const char* name : {"COLUMNS", "NO_COLOR", "LEHR_DB"}) unsetenv(name);
    setenv("TERM", "xterm", 1);
    putenv(const_cast<char*>(variable));
    if (chdir(directory.c_str()) == 0) execv(LEHR_PROGRAM, argv.data());
    _exit(127);
  }
  // When the last one closes a terminal, text that nobody has read yet may be lost. So this side stays open,
  // and the end is a character that the program does not write.
  std::thread end([&] {
    waitpid(pid, nullptr, 0);
    EXPECT_EQ(write(program_side, "\f", 1), 1);
  });
  std::string out;
  char buffer[4096];
  while (!out.ends_with('\f')) {
    const ssize_t count = read(terminal, buffer, sizeof buffer);
    if (count <= 0) break;
    out.append(buffer, static_cast<std::size_t>(count));
  }
  end.join();
  close(program_side);
  close(terminal);
  if (out.ends_with('\f')) out.pop_back();
  std::erase(out, '\r');
  return out;
}

TEST(Terminal, HasItsWidthAndColourWhereNobodySaysNo) {
  const Scratch scratch;
  record_log(scratch.path() / "lehr.db", "gemm m=8 n=8 k=8", 12);
  const nlohmann::json best = parsed(run_lehr({"best", "--json"}, scratch.path()))[0];
  const bool proven = best["speedup_vs_default_interval"][0] > 1;
  const std::string shown = on_terminal("best", scratch.path(), 90);
  EXPECT_THAT(shown, HasSubstr("\ngemm m=8 n=8 k=8  "));
  EXPECT_EQ(shown.find("\033[32m") != std::string::npos, proven) << shown;
  for (const std::string_view line : split(shown, '\n')) EXPECT_LE(line.size(), 90u + 9u);  // of the codes
  const std::string error = on_terminal("bets", scratch.path(), 80);
  EXPECT_THAT(error, StartsWith("\033[31mlehr:\033[0m unknown command 'bets'"));
  for (const char* variable : {"NO_COLOR=1", "TERM=dumb"}) {
    EXPECT_THAT(on_terminal("bets", scratch.path(), 80, variable), StartsWith("lehr: unknown"));
    EXPECT_THAT(on_terminal("best", scratch.path(), 90, variable), Not(HasSubstr("\033")));
  }
  EXPECT_THAT(on_terminal("bets", scratch.path(), 80, "NO_COLOR="), StartsWith("\033[31m"));
}

TEST(Best, FitsTheTerminalAndIsWholeInAPipe) {
  const Scratch scratch;
  record_log(scratch.path() / "lehr.db", "gemm m=8 n=8 k=8", 2);
  record_log(scratch.path() / "lehr.db", "conv2d h=9 w=9 c=8 k=8 r=3 s=3 pad=1 epilogue=bias+relu", 3);
  for (const std::size_t width : {std::size_t{80}, std::size_t{132}}) {
    const Ran ran = run_lehr({"best"}, scratch.path(), {}, {fmt::format("COLUMNS={}", width)});
    for (const std::string_view line : split(ran.out, '\n')) EXPECT_LE(line.size(), width) << ran.out;
    EXPECT_THAT(ran.out, HasSubstr("\ngemm m=8 n=8 k=8  "));
    EXPECT_THAT(ran.out, Not(HasSubstr("\033")));
  }
  const std::string piped = run_lehr({"best"}, scratch.path()).out;
  EXPECT_THAT(piped,
              HasSubstr("gemm m=8 n=8 k=8 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none"));
  EXPECT_EQ(run_lehr({"best", "--wide"}, scratch.path(), {}, {"COLUMNS=80"}).out, piped);
  EXPECT_THAT(
      piped, HasSubstr(parsed(run_lehr({"best", "--json"}, scratch.path()))[0]["config"].get<std::string>()));
}

TEST(Best, CutsARangesKernelsAndNotWhatIsCold) {
  const Scratch scratch;
  const auto tune = [&](const std::string& text, const std::string& flags) {
    std::vector<std::string> arguments = {"tune", text};
    for (const std::string& flag : words("--device cpu --threads 1 --no-baseline --quiet " + flags))
      arguments.push_back(flag);
    EXPECT_EQ(run_lehr(arguments, scratch.path()).code, 0);
  };
  tune("gemm m=1..3 n=8 k=8", "--trials 12");
  tune("gemm m=8 n=8 k=8", "--trials 1 --caches cold");
  const std::string shown = run_lehr({"best"}, scratch.path(), {}, {"COLUMNS=60"}).out;
  EXPECT_THAT(shown, AllOf(HasSubstr("... | cold caches\n"), HasSubstr("\ngemm m=1..3 n=8 k=8\nrows ")));
  for (const std::string_view line : split(shown, '\n'))
    EXPECT_TRUE(line.size() <= 60 || line.find("gemm_cpu") == std::string_view::npos) << shown;
}

TEST(WorkloadText, IsTakenWhereAWorkloadIs) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& command, const std::string& text, const std::string& flags) {
    std::vector<std::string> arguments = words(command);
    arguments.push_back(text);
    for (const std::string& flag : words(flags)) arguments.push_back(flag);
    return run_lehr(arguments, scratch.path());
  };
  const std::string canonical =
      "gemm m=8 n=9 k=10 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none";
  const std::string shown = "gemm m=8 n=9 k=10", here = "--device cpu --threads 1 --json";
  EXPECT_EQ(parsed(lehr("tune", shown, here + " --trials 1 --no-baseline"))["workload"], canonical);
  EXPECT_EQ(parsed(lehr("tune", canonical, here + " --trials 1 --no-baseline"))["workload"], canonical);
  EXPECT_EQ(parsed(lehr("check", shown, here + " --samples 1"))["checks"][0]["workload"], canonical);
  EXPECT_EQ(parsed(lehr("bench", shown, here + " --no-baseline --time 100ms"))["workload"], canonical);
  EXPECT_EQ(parsed(lehr("show --as source", shown, here))["chosen"].get<std::string>().substr(0, 8),
            "the best");
  EXPECT_EQ(parsed(lehr("compile", shown, here))["workload"], canonical);
  EXPECT_EQ(parsed(lehr("tune", "gemm m=1..3 n=8 k=8", here + " --trials 8 --no-baseline"))["workload"],
            "gemm m=1..3 n=8 k=8 batch=1 a=f32:row b=f32:row c=f32:row accum=f32 epilogue=none");

  const auto refused = [&](const std::string& command, const std::string& text, const std::string& flags) {
    const Ran ran = lehr(command, text, flags);
    EXPECT_EQ(ran.code, 1) << ran.err;
    return ran.err;
  };
  EXPECT_THAT(refused("tune", "gemm mm=8 n=8", ""), HasSubstr("unknown key 'mm'"));
  EXPECT_THAT(refused("tune", "fft n=8", ""), HasSubstr("known are: gemm, conv2d, rowwise"));
  EXPECT_THAT(refused("tune", shown, "--suite autotvm"), HasSubstr("and --suite exclude each other"));
  EXPECT_THAT(refused("tune", shown, "--model x.onnx"), HasSubstr("exclude each other"));
  EXPECT_THAT(refused("tune", shown, "gemm --m 1 --n 1 --k 1"), HasSubstr("exclude each other"));
  EXPECT_THAT(refused("tune gemm --m 1 --n 1 --k 1", shown, ""), HasSubstr("is not expected here"));
}

TEST(Best, SortsAndLimitsWhatEveryFormatHas) {
  const Scratch scratch;
  record_log(scratch.path() / "lehr.db", "gemm m=8 n=8 k=8", 3);
  record_log(scratch.path() / "lehr.db", "gemm m=9 n=8 k=8", 5);
  record_log(scratch.path() / "lehr.db", "gemm m=7 n=8 k=8", 4);
  const auto order = [&](const std::string& flags) {
    const std::string out = run_lehr(words("best " + flags), scratch.path(), {}, {"COLUMNS=100"}).out;
    return first_words(split(out, '\n'), 2);
  };
  EXPECT_THAT(order(""), ElementsAre("gemm m=7 n=8 k=8", "gemm m=8 n=8 k=8", "gemm m=9 n=8 k=8"));
  EXPECT_THAT(order("--sort trials"),
              ElementsAre("gemm m=9 n=8 k=8", "gemm m=7 n=8 k=8", "gemm m=8 n=8 k=8"));
  EXPECT_THAT(order("--sort newest --limit 1"), ElementsAre("gemm m=7 n=8 k=8"));
  for (const char* key : {"time", "speedup", "baseline"}) {
    const nlohmann::json found = parsed(run_lehr({"best", "--json", "--sort", key}, scratch.path()));
    const char* const member = std::string(key) == "time" ? "time_us" : "speedup_vs_default";
    for (std::size_t i = 0; i + 1 < found.size() && std::string(key) != "baseline"; ++i)
      EXPECT_TRUE(std::string(key) == "time" ? found[i][member] <= found[i + 1][member]
                                             : found[i][member] >= found[i + 1][member])
          << found.dump();
  }
  EXPECT_THAT(run_lehr({"best", "--json", "--format", "csv"}, scratch.path()).err,
              HasSubstr("--json and --format csv exclude each other"));
}

TEST(Best, AsCsvAndMarkdownHasTheFiguresOfJson) {
  const Scratch scratch;
  record_log(scratch.path() / "lehr.db", "gemm m=8 n=8 k=8", 3);
  record_log(scratch.path() / "lehr.db", "gemm m=9 n=8 k=8 epilogue=bias+relu", 2);
  const nlohmann::json found = parsed(run_lehr({"best", "--json"}, scratch.path()));
  const auto rows = fields_of(run_lehr({"best", "--format", "csv"}, scratch.path()).out);
  ASSERT_EQ(rows.size(), 3u);
  for (std::size_t row = 1; row < rows.size(); ++row) {
    ASSERT_EQ(rows[row].size(), rows[0].size());
    for (std::size_t i = 0; i < rows[0].size(); ++i) {
      if (!found[row - 1].contains(rows[0][i])) continue;
      const nlohmann::json& value = found[row - 1][rows[0][i]];
      EXPECT_EQ(rows[row][i], value.is_null()     ? ""
                              : value.is_string() ? value.get<std::string>()
                                                  : value.dump());
    }
    EXPECT_EQ(rows[0][5], "time_us_low");
    EXPECT_EQ(rows[row][5], found[row - 1]["time_us_interval"][0].dump());
  }
  EXPECT_EQ(csv_quoted("a \"b\", c"), "\"a \"\"b\"\", c\"");
  const std::string markdown = run_lehr({"best", "--format", "markdown"}, scratch.path()).out;
  EXPECT_THAT(markdown, StartsWith("**cpu | "));
  EXPECT_THAT(markdown, HasSubstr("| " + found[0]["config"].get<std::string>() + " |\n"));
  EXPECT_THAT(markdown_table({"<a", "b"}, {{"x|y", "1"}}), EndsWith("| --- | --: |\n| x\\|y | 1 |\n"));
}

}  // namespace
}  // namespace lehr::testing
