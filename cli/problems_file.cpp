#include "cli/problems_file.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "base/text_file.h"
#include "cli/problem_cutlass.h"
#include "cli/problem_line.h"

namespace lehr {
namespace {

/// Columns of a table: one of ours names `op` and `params`, a report of cutlass_profiler what its flags do.
struct Header {
  std::vector<std::string> names;
  std::size_t op = 0, params = 0;
  bool is_report = false;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// The fields of a line of CSV, blanks around them left out.
std::vector<std::string> fields_of(std::string_view line) {
  std::vector<std::string> fields;
  std::string field;
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      field += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back(trimmed(field));
      field.clear();
    } else {
      field += c;
    }
  }
  fields.emplace_back(trimmed(field));
  return fields;
}

std::optional<Header> header_of(std::string_view line) {
  std::vector<std::string> names = fields_of(line);
  if (std::ranges::find(names, "OperationKind") != names.end())
    return Header{.names = names, .is_report = true};
  for (std::string& name : names) name = lower_case(name);
  const auto op = std::ranges::find(names, "op"), params = std::ranges::find(names, "params");
  if (op == names.end() || params == names.end()) return std::nullopt;
  Header header = {names};
  header.op = static_cast<std::size_t>(op - names.begin());
  header.params = static_cast<std::size_t>(params - names.begin());
  return header;
}

/// What stands around the numbers in DeepBench's headers.
bool is_frame(std::string_view line) {
  return line.starts_with("std::vector<") || line == "{" || line == "}" || line == "};";
}

Workload workload_of(std::string_view line, const std::optional<Header>& header) {
  if (!header) return parse_problem_line(line);
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() != header->names.size())
    throw_user("{} fields stand under {} names", fields.size(), header->names.size());
  if (header->is_report) {
    CutlassArguments arguments;
    for (std::size_t i = 0; i < fields.size(); ++i) arguments.emplace_back(header->names[i], fields[i]);
    return cutlass_workload(arguments);
  }
  for (const char* name : {"op", "params"})
    if (std::ranges::count(header->names, name) > 1) throw_user("there are two columns '{}'", name);
  return parse_problem_params(fields[header->op], fields[header->params]);
}

}  // namespace

ProblemsFile read_problems(std::string_view text, std::string_view name) {
  ProblemsFile result;
  std::optional<Header> header;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  std::size_t number = 0;
  std::string held;  // of a command that goes on in the next line
  const std::vector<std::string_view> lines = split(text, '\n');
  for (const std::string_view raw : lines) {
    ++number;
    held += trimmed(raw.substr(0, std::min(raw.find('#'), raw.find("//"))));
    if (held.ends_with('\\') && number < lines.size()) {
      held.back() = ' ';
      continue;
    }
    const std::string line = std::exchange(held, "");
    if (line.empty() || is_frame(line)) continue;
    const bool begins = result.lines == 0 && !header;
    if (begins && (header = header_of(line))) continue;
    ++result.lines;
    try {
      const Workload workload = workload_of(line, header);
      if (std::ranges::find(result.problems, workload) == result.problems.end())
        result.problems.push_back(workload);
    } catch (const Error& error) {
      result.unusable.push_back(fmt::format("{}, line {}: {}", name, number, error.what()));
    }
  }
  return result;
}

ProblemsFile read_problems_file(const std::string& path) {
  constexpr std::size_t kMostBytes = std::size_t{16} << 20;
  const bool is_stdin = path == "-";
  const std::string name = is_stdin ? "stdin" : path;
  std::string text;
  try {
    text = read_text_file(is_stdin ? "/dev/stdin" : path, kMostBytes, "list of problems");
  } catch (const Error& error) {
    throw_user("--problems {}", error.what());
  }
  ProblemsFile result = read_problems(text, name);
  if (!result.problems.empty()) return result;
  if (result.unusable.empty()) throw_user("{} holds no problem", name);
  throw_user("{}", result.unusable[0]);
}

}  // namespace lehr
