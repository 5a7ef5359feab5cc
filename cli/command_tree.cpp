#include "cli/command_tree.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "base/text.h"

namespace lehr {
namespace {

/// Returns the words at the beginning of a help text that '|' separates. Punctuation after the last word is
/// removed.
std::vector<std::string> alternatives(const std::string& help) {
  const std::vector<std::string_view> words = split(help, ' ');
  std::vector<std::string> found;
  for (std::size_t i = 0; i < words.size(); i += 2) {
    const bool more = i + 1 < words.size() && words[i + 1] == "|";
    if (!more && i == 0) break;
    found.emplace_back(words[i].substr(0, more ? words[i].size() : words[i].find_first_of(":;,")));
    if (!more) break;
  }
  // Words like "2 | 2x1" are examples, not choices.
  if (!found.empty() && std::islower(static_cast<unsigned char>(found[0][0])) == 0) found.clear();
  return found;
}

/// Whether a word is a placeholder: "FILE", "cuda:N".
bool is_placeholder(const std::string& word) {
  return std::ranges::any_of(word, [](unsigned char c) { return std::isupper(c) != 0; });
}

Flag flag_of(const CLI::Option& option) {
  Flag flag;
  for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  flag.takes_value = option.get_items_expected_min() > 0;
  flag.about = option.get_description();
  if (!flag.takes_value) return flag;
  flag.choices = alternatives(flag.about);
  flag.takes_file = flag.choices.empty() || std::ranges::count(flag.choices, "FILE") > 0;
  std::erase_if(flag.choices, is_placeholder);
  return flag;
}

}  // namespace

std::vector<Flag> flags_of(const CLI::App& app) {
  std::vector<Flag> flags;
  for (const CLI::App* each = &app; each; each = each->get_fallthrough() ? each->get_parent() : nullptr)
    for (const CLI::Option* option : each->get_options())
      if (option->nonpositional() && !option->get_group().empty()) flags.push_back(flag_of(*option));
  return flags;
}

std::vector<const CLI::App*> subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

const CLI::App* subcommand_of(const CLI::App& app, const std::string& name) {
  for (const CLI::App* sub : subcommands_of(app))
    if (sub->get_name() == name) return sub;
  return nullptr;
}

std::vector<const CLI::App*> commands_of(const CLI::App& root) {
  std::vector<const CLI::App*> commands = {&root};
  for (const CLI::App* sub : subcommands_of(root))
    for (const CLI::App* each : commands_of(*sub)) commands.push_back(each);
  return commands;
}

std::string path_of(const CLI::App& app) {
  return app.get_parent() ? path_of(*app.get_parent()) + " " + app.get_name() : app.get_name();
}

std::vector<std::string> words_of(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::App* sub : subcommands_of(app)) words.push_back(sub->get_name());
  for (const CLI::Option* option : app.get_options())
    if (!option->nonpositional())
      for (std::string& word : alternatives(option->get_description())) words.push_back(std::move(word));
  return words;
}

}  // namespace lehr
