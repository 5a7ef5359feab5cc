#include "cli/problems_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <utility>

#include "base/error.h"
#include "base/text.h"
#include "cli/problem_line.h"

namespace lehr {
namespace {

/// Columns of a table.
struct Header {
  std::size_t op, params, columns;
};

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<Header> header_of(std::string_view line) {
  const std::vector<std::string_view> names = split(line, ',');
  const auto op = std::ranges::find(names, "op"), params = std::ranges::find(names, "params");
  if (op == names.end() || params == names.end()) return std::nullopt;
  return Header{static_cast<std::size_t>(op - names.begin()),
                static_cast<std::size_t>(params - names.begin()), names.size()};
}

Workload workload_of(std::string_view line, const std::optional<Header>& header) {
  if (!header) return parse_problem_line(line);
  const std::vector<std::string_view> fields = split(line, ',');
  if (fields.size() != header->columns)
    throw_user("{} fields stand under {} names", fields.size(), header->columns);
  return parse_problem_params(fields[header->op], fields[header->params]);
}

}  // namespace

std::vector<Workload> read_problems(std::istream& text, std::string_view name) {
  std::vector<Workload> problems;
  std::optional<Header> header;
  bool first = true;
  std::string raw;
  for (int number = 1; std::getline(text, raw); ++number) {
    const std::string_view line = trimmed(std::string_view(raw).substr(0, raw.find('#')));
    if (line.empty()) continue;
    const bool begins = std::exchange(first, false);
    if (begins && (header = header_of(line))) continue;
    try {
      const Workload workload = workload_of(line, header);
      if (std::ranges::find(problems, workload) == problems.end()) problems.push_back(workload);
    } catch (const Error& error) {
      throw_user("{}, line {}: {}", name, number, error.what());
    }
  }
  if (problems.empty()) throw_user("{} holds no problem", name);
  return problems;
}

std::vector<Workload> read_problems(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw_user("--problems {} cannot be read: {}", path, std::strerror(errno));
  return read_problems(file, path);
}

}  // namespace lehr
