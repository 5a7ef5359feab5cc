#include "problems/list.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "problems/notations.h"
#include "workload/operator.h"

namespace lehr {
namespace {

// ---- a line ----

std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words = split(line, ' ');
  std::erase(words, "");
  return words;
}

/// Reads a workload's own text. If it has only one size of the filters, they are square.
Workload own_workload(Words words) {
  std::set<std::string_view> keys;
  std::string text(words[0]), width;
  for (const std::string_view word : words.subspan(1)) {
    const std::string_view key = word.substr(0, word.find('='));
    if (!keys.insert(key).second) throw_user("'{}' is given twice", key);
    if (key == "r") width = fmt::format(" s{}", word.substr(1));
    text += fmt::format(" {}", word);
  }
  return parse_workload(keys.contains("s") ? text : text + width);
}

/// DeepBench's columns. Widths come before heights. Its matrices are stored by columns, as in cuBLAS.
constexpr std::string_view kProduct[] = {"m", "n", "k", "a_trans", "b_trans"},
                           kConvolution[] = {"w", "h",     "c",     "n",        "k",       "s",
                                             "r", "pad_w", "pad_h", "stride_w", "stride_h"};

/// Reads "1 2 3" or "std::make_tuple(1, 2, 3),".
Workload deepbench_workload(std::string_view line) {
  std::string text(line.substr(line.find('(') + 1));  // npos + 1 is 0
  std::ranges::replace_if(text, [](char c) { return c == ',' || c == ')'; }, ' ');
  const std::vector<std::string_view> numbers = words_of(text);
  const bool product = numbers.size() == std::size(kProduct);
  if (!product && numbers.size() != std::size(kConvolution))
    throw_user(
        "{} values are no problem of DeepBench: a GEMM has 5 (m n k a_t b_t), a convolution 11 (w h c n k "
        "fw fh padw padh wstride hstride)",
        numbers.size());
  Fields fields;
  for (std::size_t i = 0; i < numbers.size(); ++i)
    fields[std::string(product ? kProduct[i] : kConvolution[i])] = numbers[i];
  if (product) fields["c_layout"] = "column";
  return workload_of(product ? "gemm" : "conv2d", std::move(fields));
}

Workload cutlass_line(Words words, bool is_started) {
  const GivenValues arguments = cutlass_arguments(words);
  const auto is_size = [](const GivenValue& each) {
    return each.name == "m" || each.name == "n" || each.name == "h";
  };
  if (!is_started && std::ranges::none_of(arguments, is_size))
    throw_user("'{}' are options without a problem: write them on the problem's line", fmt::join(words, " "));
  return cutlass_workload(arguments);
}

// ---- tables ----

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

/// Returns the fields of a line of CSV, without blanks around them.
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

constexpr std::string_view kReport = "OperationKind";  ///< a column of cutlass_profiler's reports

bool has(const std::vector<std::string>& columns, std::string_view name) {
  return std::ranges::find(columns, name) != columns.end();
}

/// Returns the names of a table's columns, if the line is the head of a report of cutlass_profiler, or of a
/// table with the columns `op` and `params`. Returns an empty list for another line.
std::vector<std::string> columns_of(std::string_view line) {
  std::vector<std::string> names = fields_of(line);
  if (has(names, kReport)) return names;
  for (std::string& name : names) name = lower_case(name);
  if (!has(names, "op") || !has(names, "params")) names.clear();
  return names;
}

/// Returns the field that a key in the column `params` sets.
std::string_view field_of_param(std::string_view key, bool product) {
  if (key == "transA") return "a_trans";
  if (key == "transB") return "b_trans";
  return key == "layout" && !product ? "x_layout" : key;
}

/// Returns the workload of a row's `op` and `params`. The keys in `params` are fields of a workload's text,
/// except for types and layouts.
Workload params_workload(std::string_view op, std::string_view params) {
  const bool product = op == "gemm" || op == "gemm_batched";
  if (!product && op != "conv") throw_user("unknown operator '{}'; known are gemm, gemm_batched, conv", op);
  Fields fields;
  for (const std::string_view part : split(params, ';')) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) throw_user("'{}' is not key=value", part);
    const std::string_view key = part.substr(0, equals);
    const std::string_view field = field_of_param(key, product);
    if (!fields.emplace(field, part.substr(equals + 1)).second) throw_user("'{}' is given twice", key);
  }
  return workload_of(product ? "gemm" : "conv2d", std::move(fields));
}

Workload row_workload(std::string_view line, const std::vector<std::string>& columns) {
  const std::vector<std::string> fields = fields_of(line);
  if (fields.size() != columns.size())
    throw_user("{} fields stand under {} names", fields.size(), columns.size());
  if (has(columns, kReport)) {
    GivenValues arguments;
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (!fields[i].empty())
        arguments.push_back({columns[i], fields[i], fmt::format("{}={}", columns[i], fields[i])});
    return cutlass_workload(arguments);
  }
  const auto field = [&](const char* name) {
    if (std::ranges::count(columns, name) > 1) throw_user("there are two columns '{}'", name);
    return fields[static_cast<std::size_t>(std::ranges::find(columns, name) - columns.begin())];
  };
  return params_workload(field("op"), field("params"));
}

/// Whether a line belongs to the C++ text around the numbers in DeepBench's headers.
bool is_frame(std::string_view line) {
  return line.starts_with("std::vector<") || line == "{" || line == "}" || line == "};";
}

}  // namespace

Workload parse_problem_line(std::string_view given) {
  std::string line(given);
  std::ranges::replace(line, '\t', ' ');
  std::vector<std::string_view> words = words_of(line);
  // Before a program's name there may be the prefix of a log, and environment variables.
  const auto started = [&words](std::string_view program) {
    const auto name =
        std::ranges::find_if(words, [&](std::string_view word) { return word.ends_with(program); });
    if (name == words.end()) return false;
    words.erase(words.begin(), name + 1);
    return true;
  };
  const bool is_driver = started("MIOpenDriver");
  const bool is_cutlass = started("cutlass_profiler") || started("Arguments:");
  const bool is_bench = started("benchdnn");
  if (words.empty()) throw_user("there is no problem in '{}'", given);
  const std::string_view first = words[0];
  if (is_bench || (!is_cutlass && is_benchdnn(words))) return benchdnn_workload(words);
  if (is_cutlass || first.starts_with("--")) return cutlass_line(words, is_cutlass);
  if (is_miopen(words)) return miopen_workload(words);
  if (!is_driver && find_operator(first) != nullptr) return own_workload(words);
  const bool tuple = first.starts_with('(') || first.starts_with("std::make_tuple(");
  if (tuple || std::isdigit(static_cast<unsigned char>(first[0])) != 0) return deepbench_workload(line);
  throw_user(
      "'{}' begins no problem: known are {} (a workload's text), the numbers of DeepBench, conv, convfp16 "
      "and convbfp16 of MIOpenDriver, and the lines of cutlass_profiler and benchdnn",
      first, fmt::join(operator_names(), " and "));
}

ProblemList read_problems(std::string_view text, std::string_view name) {
  ProblemList result;
  std::vector<std::string> columns;
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);  // a byte order mark
  std::size_t number = 0;
  std::string held;  // beginning of a command that continues on the next line
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
    const bool begins = result.lines == 0 && columns.empty();
    if (begins && !(columns = columns_of(line)).empty()) continue;
    ++result.lines;
    try {
      const Workload workload = columns.empty() ? parse_problem_line(line) : row_workload(line, columns);
      if (std::ranges::find(result.problems, workload) == result.problems.end())
        result.problems.push_back(workload);
    } catch (const Error& error) {
      result.unusable.push_back(fmt::format("{}, line {}: {}", name, number, error.what()));
    }
  }
  return result;
}

}  // namespace lehr
