// Each script first finds the command that the words name (`at`). Then it checks whether the last flag needs
// a value. Then it offers the words and flags that the command takes. `lehr help tune` is completed like
// `lehr tune`.
#include "cli/completions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <functional>
#include <vector>

#include "cli/command_tree.h"
#include "measure/core/format.h"

namespace lehr {
namespace {

std::vector<std::string> quoted(std::vector<std::string> texts) {
  for (std::string& text : texts) text = shell_quoted(text);
  return texts;
}

/// Returns the paths of all commands but the program itself.
std::vector<std::string> paths_of(const CLI::App& root) {
  std::vector<std::string> paths;
  for (const CLI::App* command : commands_of(root))
    if (command != &root) paths.push_back(path_of(*command));
  return paths;
}

std::string about_of(const std::string& text) {
  constexpr std::size_t kWidth = 72;
  return cut_to(text, kWidth);
}

/// Returns, for each flag that needs a value, a branch of the shell's `case`.
std::string value_cases(const CLI::App& root, const std::function<std::string(const Flag& flag)>& action) {
  std::string text;
  for (const CLI::App* command : commands_of(root))
    for (const Flag& flag : flags_of(*command)) {
      if (!flag.takes_value) continue;
      std::vector<std::string> patterns;
      for (const std::string& name : flag.names)
        patterns.push_back(shell_quoted(path_of(*command) + " " + name));
      text += fmt::format("    {}) {} ;;\n", fmt::join(patterns, " | "), action(flag));
    }
  return text;
}

/// Returns a name and its description in the form for zsh's _describe: "'--time:wall time'".
std::string described(std::string name, const std::string& about) {
  if (const std::size_t colon = name.find(':'); colon != std::string::npos) name.insert(colon, "\\");
  return shell_quoted(name + ":" + about_of(about));
}

}  // namespace

std::string bash_completion(const CLI::App& root) {
  std::string commands;
  for (const CLI::App* command : commands_of(root)) {
    std::vector<std::string> flags;
    for (const Flag& flag : flags_of(*command))
      flags.insert(flags.end(), flag.names.begin(), flag.names.end());
    commands += fmt::format("    {}) words='{}' flags='{}' ;;\n", shell_quoted(path_of(*command)),
                            fmt::join(words_of(*command), " "), fmt::join(flags, " "));
  }
  const auto action = [](const Flag& flag) {
    const std::string words =
        fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$cur\"))", fmt::join(flag.choices, " "));
    return flag.choices.empty() ? std::string("return") : words + "; return";
  };
  return fmt::format(R"(# Completion of lehr for bash, made by: lehr completions bash
_lehr() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} prev=${{COMP_WORDS[COMP_CWORD - 1]}} at=lehr word words='' flags=''
  [[ $cur == = ]] && cur=''
  [[ $prev == = ]] && prev=${{COMP_WORDS[COMP_CWORD - 2]}}
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "$at $word" in
    {}) at="$at $word" ;;
    esac
    [[ $at == 'lehr help' ]] && at=lehr
  done
  COMPREPLY=()
  case "$at $prev" in
{}  esac
  case $at in
{}  esac
  [[ $cur == -* ]] && words=$flags
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
}}
complete -o default -F _lehr lehr
)",
                     fmt::join(quoted(paths_of(root)), " | "), value_cases(root, action), commands);
}

std::string zsh_completion(const CLI::App& root) {
  std::string commands;
  for (const CLI::App* command : commands_of(root)) {
    std::vector<std::string> words, flags;
    for (const std::string& word : words_of(*command)) {
      const CLI::App* sub = subcommand_of(*command, word);
      words.push_back(described(word, sub ? sub->get_description() : ""));
    }
    for (const Flag& flag : flags_of(*command))
      for (const std::string& name : flag.names) flags.push_back(described(name, flag.about));
    commands += fmt::format("    {}) commands=({}) flags=({}) ;;\n", shell_quoted(path_of(*command)),
                            fmt::join(words, " "), fmt::join(flags, " "));
  }
  const auto action = [](const Flag& flag) {
    const std::string words = fmt::format("compadd -- {}", fmt::join(flag.choices, " "));
    return fmt::format("{}{}; return", flag.choices.empty() ? "" : words + "; ",
                       flag.takes_file ? "_files" : "true");
  };
  return fmt::format(R"(#compdef lehr
# Completion of lehr for zsh, made by: lehr completions zsh
_lehr() {{
  local at=lehr word
  local -a commands flags
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "$at $word" in
    {}) at="$at $word" ;;
    esac
    [[ $at == 'lehr help' ]] && at=lehr
  done
  case "$at $words[CURRENT-1]" in
{}  esac
  case $at in
{}  esac
  if [[ $PREFIX == -* ]]; then
    _describe flag flags
  elif (( $#commands )); then
    _describe command commands
  else
    _files
  fi
}}
if [[ $funcstack[1] == _lehr ]]; then _lehr "$@"; else compdef _lehr lehr; fi
)",
                     fmt::join(quoted(paths_of(root)), " | "), value_cases(root, action), commands);
}

std::string fish_completion(const CLI::App& root) {
  std::string text = fmt::format(R"(# Completion of lehr for fish, made by: lehr completions fish
function __lehr_at
  set -l at lehr
  for word in (commandline -opc)[2..-1]
    contains -- "$at $word" {}; and set at "$at $word"
    test "$at" = 'lehr help'; and set at lehr
  end
  test "$at" = "$argv"
end
)",
                                 fmt::join(quoted(paths_of(root)), " "));
  for (const CLI::App* command : commands_of(root)) {
    const std::string at = fmt::format("complete -c lehr -n '__lehr_at {}'", path_of(*command));
    for (const std::string& word : words_of(*command)) {
      const CLI::App* sub = subcommand_of(*command, word);
      text += fmt::format("{} -f -a {} -d {}\n", at, word,
                          shell_quoted(sub ? about_of(sub->get_description()) : ""));
    }
    for (const Flag& flag : flags_of(*command)) {
      text += at;
      for (const std::string& name : flag.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (flag.takes_value) text += flag.takes_file ? " -r" : " -x";
      if (!flag.choices.empty()) text += fmt::format(" -a '{}'", fmt::join(flag.choices, " "));
      text += fmt::format(" -d {}\n", shell_quoted(about_of(flag.about)));
    }
  }
  return text;
}

}  // namespace lehr
