// Formats help.
#include "cli/help.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"

namespace lehr {
namespace {

constexpr std::size_t kWidth = 96;  // width of help; --help-all indents by two more characters
constexpr std::size_t kNameWidth = 24;

/// Returns the rank of a group. The groups that commands share come last, in this order.
std::size_t rank_of(const std::string& group) {
  constexpr std::array<std::string_view, 3> kShared = {kSearchGroup, kMeasuringGroup, kOutputGroup};
  const auto at = std::ranges::find(kShared, group);
  return at == kShared.end() ? 0 : 1 + static_cast<std::size_t>(at - kShared.begin());
}

/// Returns an entry of help, "  name      text". Further lines of the text begin below its first line.
std::string entry(const std::string& name, const std::string& text) {
  std::string out = "  " + name;
  const std::string indent(kNameWidth, ' ');
  if (text.empty()) return out + '\n';
  if (out.size() + 1 < kNameWidth)
    out.resize(kNameWidth, ' ');
  else
    out += '\n' + indent;
  for (const char c : wrapped(text, kWidth - kNameWidth)) {
    out += c;
    if (c == '\n') out += indent;
  }
  return out + '\n';
}

class Help : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    std::string out = make_description(app) + make_usage(app, std::move(name)) + make_positionals(app) +
                      groups(app) + make_subcommands(app, mode);
    if (!app->get_footer().empty()) out += '\n' + app->get_footer() + '\n';
    return out;
  }
  std::string make_description(const CLI::App* app) const override {
    return wrapped(Formatter::make_description(app), kWidth);
  }
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option),
                 make_option_desc(option));
  }
  std::string make_subcommand(const CLI::App* app) const override {
    return entry(app->get_display_name(true), app->get_description());
  }

 private:
  std::string groups(const CLI::App* app) const {
    std::vector<std::string> names = app->get_groups();
    std::ranges::stable_sort(names, {}, rank_of);
    std::string out;
    for (const std::string& name : names) {
      const std::vector<const CLI::Option*> options = app->get_options(
          [&](const CLI::Option* option) { return option->get_group() == name && option->nonpositional(); });
      if (name.empty() || options.empty()) continue;
      out += '\n' + wrapped(name + ':', kWidth) + '\n';
      for (const CLI::Option* option : options) out += make_option(option, false);
    }
    return out;
  }
};

}  // namespace

std::shared_ptr<CLI::FormatterBase> help_formatter() {
  return std::make_shared<Help>();
}

CLI::Option* value_flag(CLI::App& app, const char* group, const char* name, std::string& value,
                        const char* help) {
  return app.add_option(name, value, help)->group(group)->option_text(" ");
}

CLI::Option* switch_flag(CLI::App& app, const char* group, const char* name, bool& value, const char* help) {
  return app.add_flag(name, value, help)->group(group);
}

std::string examples(const std::vector<Example>& lines, std::string_view note) {
  std::size_t widest = 0;
  for (const Example& line : lines) widest = std::max(widest, line.about.size());
  std::string out = "Examples:\n";
  for (const Example& line : lines) {
    const std::string indent(widest + 4, ' ');
    // A long command continues on the next line after a backslash, so that it can be pasted.
    const std::string command = wrapped(line.command, kWidth - indent.size() - 4);
    out += fmt::format("  {:<{}}  ", line.about, widest);
    for (const char c : command) out += c == '\n' ? " \\\n" + indent + "  " : std::string(1, c);
    out += '\n';
  }
  return note.empty() ? out.substr(0, out.size() - 1) : out + wrapped(note, kWidth);
}

std::string wrapped(std::string_view text, std::size_t width) {
  std::string out;
  for (const std::string_view line : split(text, '\n')) {
    if (!out.empty()) out += '\n';
    std::size_t column = 0;
    for (const std::string_view word : split(line, ' ')) {
      const bool fits = column == 0 || column + 1 + word.size() <= width;
      if (column > 0) out += fits ? ' ' : '\n';
      column = (fits && column > 0 ? column + 1 : 0) + word.size();
      out += word;
    }
  }
  return out;
}

}  // namespace lehr
