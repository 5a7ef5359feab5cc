#include "cli/about_commands.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <memory>
#include <string>

#include "base/args.h"
#include "base/error.h"
#include "base/version.h"
#include "cli/command_tree.h"
#include "cli/completions.h"
#include "cli/help.h"
#include "cli/manual.h"

namespace lehr {
namespace {

int help(const CLI::App& root, const std::vector<std::string>& words) {
  const CLI::App* app = &root;
  for (const std::string& word : words) {
    const CLI::App* sub = subcommand_of(*app, word);
    if (!sub) throw_user("'{} {}' is no command{}", path_of(*app), word, suggestion(word, words_of(*app)));
    app = sub;
  }
  fmt::print("{}", app->get_formatter()->make_help(app, path_of(*app), CLI::AppFormatMode::Normal));
  return 0;
}

int completions(const CLI::App& root, const std::string& shell) {
  if (shell.empty()) throw_user("lehr completions needs the name of a shell: bash, zsh or fish");
  const std::string known = parse_choice("lehr completions", shell, {"bash", "zsh", "fish"});
  fmt::print("{}", known == "bash"  ? bash_completion(root)
                   : known == "zsh" ? zsh_completion(root)
                                    : fish_completion(root));
  return 0;
}

}  // namespace

std::vector<AboutCommand> add_about_commands(CLI::App& root) {
  const auto words = std::make_shared<std::vector<std::string>>();
  const auto shell = std::make_shared<std::string>();
  CLI::App* asked = root.add_subcommand("help", "Show what a command does and the flags it takes");
  asked->add_option("COMMAND", *words, "the command, as tune gemm")->option_text("...");
  CLI::App* version = root.add_subcommand("version", "Show the version");
  CLI::App* complete =
      root.add_subcommand("completions", "Print what a shell needs to complete commands and flags");
  complete->add_option("SHELL", *shell, "bash | zsh | fish")->option_text(" ");
  complete->footer(examples({{"bash", "source <(lehr completions bash)"},
                             {"fish", "lehr completions fish >~/.config/fish/completions/lehr.fish"}}));
  CLI::App* manual = root.add_subcommand("man", "Print the manual page, for: lehr man | man -l -");
  return {{asked, [&root, words] { return help(root, *words); }},
          {version,
           [] {
             fmt::print("lehr {}\n", kVersion);
             return 0;
           }},
          {complete, [&root, shell] { return completions(root, *shell); }},
          {manual, [&root] {
             fmt::print("{}", manual_page(root));
             return 0;
           }}};
}

}  // namespace lehr
