// Parses the log line by line. The forms of lines are those of ptxas 12 and 13 (recorded in
// tests/measure/ptxas_log_test.cpp).
#include "measure/cuda/ptxas_log.h"

#include <fmt/format.h>
#include <cctype>

#include "base/error.h"
#include "base/text.h"

namespace lehr {
namespace {

/// Returns the integer directly before `unit` in `line`: 128 for ("Used 128 registers, ...", " registers").
std::optional<int> number_before(std::string_view line, std::string_view unit) {
  const std::size_t at = line.find(unit);
  if (at == std::string_view::npos) return std::nullopt;
  std::size_t first = at;
  while (first > 0 && std::isdigit(static_cast<unsigned char>(line[first - 1]))) --first;
  const auto value = parse_int(line.substr(first, at - first));
  if (!value) return std::nullopt;
  return static_cast<int>(*value);
}

/// Whether the line has an advisory code, "C75" and two digits. Codes of other groups are for information
/// only.
bool is_advisory(std::string_view line) {
  for (std::size_t at = line.find("C75"); at != std::string_view::npos; at = line.find("C75", at + 1)) {
    const std::string_view digits = line.substr(at + 3, 2);
    const bool coded = digits.size() == 2 && std::isdigit(static_cast<unsigned char>(digits[0])) &&
                       std::isdigit(static_cast<unsigned char>(digits[1]));
    const bool starts_word = at == 0 || !std::isalnum(static_cast<unsigned char>(line[at - 1]));
    if (coded && starts_word) return true;
  }
  return false;
}

std::string without_prefix(std::string_view line) {
  const std::size_t colon = line.find(": ");
  std::string_view rest = colon == std::string_view::npos ? line : line.substr(colon + 2);
  while (!rest.empty() && std::isspace(static_cast<unsigned char>(rest.front()))) rest.remove_prefix(1);
  return std::string(rest);
}

void keep_first(std::optional<int>& into, std::optional<int> value) {
  if (!into) into = value;
}

/// Returns the name in a line "Compiling entry function 'x'" or "Function properties for x"; "" for other
/// lines.
std::string_view function_named_in(std::string_view line) {
  const std::string_view compiling = "Compiling entry function '";
  if (const std::size_t at = line.find(compiling); at != std::string_view::npos) {
    const std::string_view rest = line.substr(at + compiling.size());
    return rest.substr(0, rest.find('\''));
  }
  const std::string_view properties = "Function properties for ";
  if (const std::size_t at = line.find(properties); at != std::string_view::npos) {
    const std::string_view rest = line.substr(at + properties.size());
    return rest.substr(0, rest.find_first_of(" \r"));
  }
  return {};
}

}  // namespace

PtxasReport parse_ptxas_log(std::string_view log, std::string_view entry) {
  PtxasReport report;
  bool ours = true;
  for (const std::string_view line : split(log, '\n')) {
    if (is_advisory(line)) report.advisories.push_back(without_prefix(line));
    if (const std::string_view function = function_named_in(line); !function.empty()) {
      ours = entry.empty() || function == entry;
    }
    if (!ours) continue;
    keep_first(report.stack_bytes, number_before(line, " bytes stack frame"));
    keep_first(report.spill_store_bytes, number_before(line, " bytes spill stores"));
    keep_first(report.spill_load_bytes, number_before(line, " bytes spill loads"));
    if (line.find("Used ") != std::string_view::npos) {
      keep_first(report.registers, number_before(line, " registers"));
      keep_first(report.shared_bytes, number_before(line, " bytes smem"));
    }
  }
  return report;
}

std::optional<std::string> why_rejected(const PtxasReport& report) {
  const int spills = report.spill_store_bytes.value_or(0) + report.spill_load_bytes.value_or(0);
  if (spills > 0) return fmt::format("the compiler spilled {} bytes per thread to local memory", spills);
  if (!report.advisories.empty())
    return fmt::format("the compiler gave up an optimisation: {}", report.advisories.front());
  return std::nullopt;
}

Resources resources_of(const PtxasReport& report, std::int64_t dynamic_shared_bytes, double compile_s) {
  Resources resources;
  resources.registers = report.registers;
  resources.stack_bytes = report.stack_bytes;
  if (report.spill_store_bytes || report.spill_load_bytes) {
    resources.spill_bytes = report.spill_store_bytes.value_or(0) + report.spill_load_bytes.value_or(0);
  }
  resources.shared_bytes = report.shared_bytes.value_or(0) + static_cast<int>(dynamic_shared_bytes);
  resources.compile_s = compile_s;
  resources.advisories = fmt::format("{}", fmt::join(report.advisories, "\n"));
  return resources;
}

}  // namespace lehr
