#include "cli/manual.h"

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <algorithm>

#include "base/text.h"
#include "base/version.h"
#include "cli/command_tree.h"

namespace lehr {
namespace {

std::string escaped_character(char c) {
  if (c == '\\') return "\\e";
  if (c == '-') return "\\-";
  if (c == '\'') return "\\(aq";
  return std::string(1, c);
}

/// Returns the text with escapes, so that roff shows it literally.
std::string escaped(std::string_view text) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    if (!out.empty()) out += '\n';
    if (line.starts_with('.') || line.starts_with('\'')) out += "\\&";
    for (const char c : line) out += escaped_character(c);
  }
  return out;
}

/// Returns the lines in a form in which roff keeps their line breaks.
std::string as_is(std::string_view text) {
  return text.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", escaped(text));
}

std::string item(const Flag& flag) {
  std::string names;
  for (const std::string& name : flag.names)
    names += fmt::format("{}\\fB{}\\fR", names.empty() ? "" : ", ", escaped(name));
  return fmt::format(".TP\n{}{}\n{}\n", names, flag.takes_value ? " \\fIVALUE\\fR" : "", escaped(flag.about));
}

/// Whether the parent command has the same flag, so that the flag is documented there.
bool stands_above(const Flag& flag, const CLI::App& command) {
  return std::ranges::any_of(flags_of(*command.get_parent()), [&](const Flag& above) {
    return above.names == flag.names && above.about == flag.about;
  });
}

std::string section(const CLI::App& command) {
  const std::string parent = path_of(*command.get_parent());
  std::string text =
      fmt::format(".SS {}\n{}\n", escaped(path_of(command)), escaped(command.get_description()));
  for (const CLI::Option* option : command.get_options())
    if (!option->nonpositional())
      text += fmt::format(".TP\n\\fI{}\\fR\n{}\n", escaped(option->get_name(true)),
                          escaped(option->get_description()));
  bool shared = false;
  for (const Flag& flag : flags_of(command)) {
    const bool above = stands_above(flag, command);
    shared = shared || above;
    if (!above) text += item(flag);
  }
  if (!command.get_parent()->get_parent()) return text + as_is(command.get_footer());
  if (shared) text += fmt::format(".PP\nWhat both take stands under \\fB{}\\fR.\n", escaped(parent));
  return text;
}

}  // namespace

std::string manual_page(const CLI::App& root) {
  const std::string about = root.get_description();  // "Lehr: an autotuner"
  std::string text = fmt::format(
      ".TH LEHR 1 \"\" \"lehr {}\" \"User Commands\"\n.SH NAME\nlehr \\- {}\n.SH SYNOPSIS\n\\fBlehr\\fR "
      "\\fICOMMAND\\fR [\\fIFLAGS\\fR]\n.SH DESCRIPTION\n{}.SH FLAGS\n",
      escaped(kVersion), escaped(about.substr(about.find(' ') + 1)), as_is(root.get_footer()));
  for (const Flag& flag : flags_of(root)) text += item(flag);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(root))
    if (command != &root) text += section(*command);
  return text;
}

}  // namespace lehr
