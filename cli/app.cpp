// Builds the CLI11 application, and replaces CLI11's errors by Lehr's own.
#include "cli/app.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <functional>
#include <memory>
#include <vector>

#include "base/args.h"
#include "base/error.h"
#include "base/text.h"
#include "base/version.h"
#include "cli/about_commands.h"
#include "cli/apply_command.h"
#include "cli/bench_command.h"
#include "cli/best_command.h"
#include "cli/check_command.h"
#include "cli/command_tree.h"
#include "cli/compile_command.h"
#include "cli/db_command.h"
#include "cli/doctor_command.h"
#include "cli/export_command.h"
#include "cli/help.h"
#include "cli/model_command.h"
#include "cli/optimize_command.h"
#include "cli/replay_command.h"
#include "cli/report_command.h"
#include "cli/show_command.h"
#include "cli/tune_command.h"
#include "cli/verify_command.h"
#include "measure/worker/backends.h"

namespace lehr {
namespace {

/// Returns the innermost subcommand that the user has named: "gemm" for "lehr tune gemm".
const CLI::App* deepest(const CLI::App* app) {
  while (!app->get_subcommands().empty()) app = app->get_subcommands()[0];
  return app;
}

std::vector<std::string> names_of_subcommands(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* sub : subcommands_of(app)) names.push_back(sub->get_name());
  return names;
}

std::vector<std::string> names_of_flags(const CLI::App& app) {
  std::vector<std::string> names;
  for (const Flag& flag : flags_of(app)) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return names;
}

/// A hint for an unexpected word with this ending, if the command takes `flag`. `sentence` says what the user
/// probably meant, with {} in place of the word.
struct Meant {
  std::string_view ending, flag, sentence;
};
constexpr Meant kMeant[] = {
    {".db", "--db", "'{0}' is not expected here: a log is named with --db {0}"},
    {".onnx", "--model", "'{0}' is not expected here: a network is named with --model {0}"},
    {"--dtype", "--a", "unknown flag {}: a product names the type of each operand, as --a bf16 --b bf16"}};

[[noreturn]] void explain_extra(const CLI::App& root) {
  const CLI::App* app = deepest(&root);
  const std::string word = root.remaining(true).empty() ? "" : root.remaining(true)[0];
  const std::string flag = word.substr(0, word.find('='));
  const std::vector<std::string> flags = names_of_flags(*app);
  for (const Meant& meant : kMeant)
    if (flag.ends_with(meant.ending) && std::ranges::count(flags, meant.flag) > 0)
      throw_user("{}", fmt::format(fmt::runtime(meant.sentence), flag));
  if (word.starts_with('-')) {
    throw_user("unknown flag {}{}; {} --help lists all", flag, suggestion(flag, flags), path_of(*app));
  }
  if (flag != word && std::ranges::count(flags, "--" + flag) > 0)
    throw_user("'{}' is not expected here: write --{} {}, or the workload's text as one argument, in quotes",
               word, flag, word.substr(flag.size() + 1));
  const std::vector<std::string> commands = names_of_subcommands(*app);
  if (commands.empty() || !app->get_subcommands().empty())
    throw_user("'{}' is not expected here; {} --help lists all flags", word, path_of(*app));
  throw_user("unknown {} '{}'{}; known are {}", app == &root ? "command" : "operator or command", word,
             suggestion(word, commands), fmt::join(commands, ", "));
}

std::string one_line(std::string text) {
  for (char& c : text)
    if (c == '\n') c = ' ';
  return text;
}

/// Puts the help flags into our group. CLI11 adds them to every command in a group of its own.
void group_help_flags(CLI::App& app) {
  app.get_option("--help")->group(kOutputGroup);
  app.get_option("--help-all")->group(kOutputGroup);
  for (CLI::App* sub : app.get_subcommands({})) group_help_flags(*sub);
}

/// Adds flags for temporary files to every command that measures or compiles.
void add_scratch_flags(CLI::App& app, std::string& scratch) {
  bool measures = false;
  for (const CLI::Option* option : app.get_options()) measures |= option->get_group() == kMeasuringGroup;
  if (measures)
    value_flag(app, kMeasuringGroup, "--scratch", scratch,
               "a folder for sources and kernels while they are of use (TMPDIR, else /dev/shm)");
  for (CLI::App* sub : app.get_subcommands({})) add_scratch_flags(*sub, scratch);
}

}  // namespace

struct CommandLine::Parts {
  Environment environment = read_environment();
  CLI::App app{"Lehr: an autotuner for GPU and CPU kernels", "lehr"};
  struct Command {
    const CLI::App* app;
    bool starts_processes;
    std::function<int()> run;
  };
  std::vector<Command> commands;

  template <typename T>
  void add(bool starts_processes) {
    const auto command = std::make_shared<T>(app, environment);
    commands.push_back({subcommands_of(app).back(), starts_processes, [=] { return command->run(); }});
  }
};

CommandLine::CommandLine() : parts_(std::make_unique<Parts>()) {
  CLI::App& app = parts_->app;
  app.formatter(help_formatter());
  app.set_version_flag("-V,--version", std::string("lehr ") + kVersion)->group(kOutputGroup);
  app.set_help_all_flag("--help-all", "the flags of all commands");
  app.require_subcommand(0, 1);
  parts_->add<OptimizeCommand>(true);
  parts_->add<TuneCommand>(true);
  parts_->add<CheckCommand>(true);
  parts_->add<BenchCommand>(true);
  parts_->add<ModelCommand>(false);
  parts_->add<ApplyCommand>(true);
  parts_->add<VerifyCommand>(true);
  parts_->add<BestCommand>(false);
  parts_->add<ReportCommand>(false);
  parts_->add<ShowCommand>(true);
  parts_->add<CompileCommand>(true);
  parts_->add<ExportCommand>(true);
  parts_->add<ReplayCommand>(false);
  parts_->add<DbCommand>(false);
  parts_->add<DoctorCommand>(true);
  for (AboutCommand& about : add_about_commands(app))
    parts_->commands.push_back({about.app, false, std::move(about.run)});
  add_scratch_flags(app, parts_->environment.scratch);
  group_help_flags(app);
  app.footer(
      examples({{"look", "lehr doctor"},
                {"tune", "lehr tune gemm --m 512 --n 512 --k 512 --time 30s"},
                {"results", "lehr best"},
                {"", "lehr show gemm --m 512 --n 512 --k 512 --as source"},
                {"take", "lehr export --out kernels"}},
               "Results go to stdout, progress to stderr. Exit codes: 0 ok, 1 wrong input, 2 something "
               "on this machine is missing, 3 nothing found, 4 a check failed, 130 interrupted (the log "
               "is valid)."));
}

CommandLine::~CommandLine() = default;

CLI::App& CommandLine::app() {
  return parts_->app;
}

int CommandLine::run(int argc, char** argv) {
  CLI::App& app = parts_->app;
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked);
  } catch (const CLI::ParseError& error) {
    if (!app.remaining(true).empty()) explain_extra(app);
    const CLI::App* reached = deepest(&app);
    if (dynamic_cast<const CLI::RequiredError*>(&error) && !names_of_subcommands(*reached).empty())
      throw_user("{} needs a command: {}", path_of(*reached),
                 fmt::join(names_of_subcommands(*reached), ", "));
    throw_user("{}", one_line(error.what()));
  }
  for (const Parts::Command& command : parts_->commands) {
    if (!command.app->parsed()) continue;
    const auto supervisor = command.starts_processes ? supervise(parts_->environment) : nullptr;
    return command.run();
  }
  fmt::print(
      "Lehr finds the fastest kernel of a matrix product or a convolution on this machine. Three steps:\n"
      "\n"
      "  lehr doctor                                        what this machine offers, and what is missing\n"
      "  lehr tune gemm --m 512 --n 512 --k 512 --time 30s  measures kernels, keeps every trial in lehr.db\n"
      "  lehr best                                          the fastest of each workload in that log\n"
      "\n"
      "lehr --help lists all commands, lehr COMMAND --help the flags of one.\n");
  return 0;
}

}  // namespace lehr
