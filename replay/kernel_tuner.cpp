// Kernel Tuner cache files: see formats.h.
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/text.h"
#include "replay/formats.h"
#include "replay/json_rows.h"

namespace lehr {
namespace {

using nlohmann::json;

// The time that Kernel Tuner wrote for a failure before it had names for failures.
constexpr double kFailedBefore2021 = 1e20;

// Returns "4096x4096", "1024", or another text of a problem size.
std::string size_text(const json& size) {
  if (!size.is_array()) return size.is_string() ? size.get<std::string>() : size.dump();
  std::string text;
  for (const json& each : size) text += (text.empty() ? "" : "x") + size_text(each);
  return text;
}

// Whether a member is one of Kernel Tuner's names for a failure.
bool is_failure(const json& value) {
  if (!value.is_string()) return false;
  const std::string& text = value.get_ref<const std::string&>();
  return text == "InvalidConfig" || text == "RuntimeFailedConfig" || text == "CompilationFailedConfig";
}

// Returns the time; nullopt for a failure. A failure has text in place of the time ("RuntimeFailedConfig"),
// 1e20 in older files, NaN or infinity (replaced by null) if an observer divided by zero, or no time at all.
Microseconds time_of(const json& entry, const Place& place) {
  if (std::ranges::any_of(entry, is_failure)) return std::nullopt;
  const auto found = entry.find("time");
  if (found == entry.end() || found->is_string() || found->is_null()) return std::nullopt;
  if (!found->is_number())
    throw_at(place,
             fmt::format("\"time\" must be milliseconds or a failure's name, not {}", found->type_name()));
  const double ms = found->get<double>();
  return ms >= kFailedBefore2021 ? std::nullopt : std::optional(ms * 1e3);
}

// Returns a member's text if the member exists and is not empty; else returns `otherwise`.
std::string name_or(const json& document, std::string_view name, const std::string& otherwise, Table& table) {
  const auto found = document.find(name);
  if (found != document.end() && found->is_string() && !found->get<std::string>().empty())
    return found->get<std::string>();
  table.notes.push_back(fmt::format("it has no \"{}\"; \"{}\" stands for it", name, otherwise));
  return otherwise;
}

// Returns the names of the parameters in order: "tune_params_keys", or the names in "tune_params" if that is
// missing.
std::vector<std::string> parameters_of(const json& document, const Place& place) {
  std::vector<std::string> names;
  const auto keys = document.find("tune_params_keys");
  if (keys == document.end()) {
    const auto values = document.find("tune_params");
    if (values == document.end() || !values->is_object() || values->empty())
      throw_at(place, "\"tune_params_keys\" is missing, a list of parameter names");
    for (const auto& [name, each] : values->items()) names.push_back(name);
    return names;
  }
  if (!keys->is_array() || keys->empty())
    throw_at(place, "\"tune_params_keys\" must be a list of parameter names");
  for (const json& key : *keys) {
    if (!key.is_string()) throw_at(place, "\"tune_params_keys\" must hold names, not " + key.dump());
    names.push_back(key.get<std::string>());
  }
  return names;
}

// Returns the values of the parameters. If an entry lacks them, they are taken from its key: "16,4,1".
std::vector<json> values_of(const json& entry, const std::string& key, const std::vector<std::string>& names,
                            const Place& place) {
  const std::vector<std::string_view> parts = split(key, ',');
  std::vector<json> values;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (entry.contains(names[i]) || parts.size() != names.size()) {
      values.push_back(member(entry, names[i], place));
      continue;
    }
    const json number = json::parse(parts[i], nullptr, false);
    values.push_back(number.is_discarded() ? json(parts[i]) : number);
  }
  return values;
}

}  // namespace

std::optional<std::size_t> close_kernel_tuner_cache(std::string& text) {
  const std::size_t name = text.find("\"cache\"");
  const std::size_t open = name == std::string::npos ? name : text.find_first_not_of(" \t\r\n:", name + 7);
  if (open == std::string::npos || text[open] != '{') return std::nullopt;
  std::size_t end = open + 1;  // end of the last complete row
  int depth = 1;
  bool quoted = false;
  for (std::size_t i = end; i < text.size() && depth > 0; ++i) {
    const char c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '{' || c == '['))
      ++depth;
    else if (!quoted && (c == '}' || c == ']') && --depth == 1)
      end = i + 1;
  }
  const std::size_t rest = text.find_first_not_of(" \t\r\n,", end);
  const std::size_t left_out = rest == std::string::npos ? 0 : text.size() - rest;
  text.resize(end);
  text += "}}";
  return left_out;
}

Table read_kernel_tuner(const json& document, const std::string& file) {
  const Place whole{file, ""};
  Table table;
  table.file = file;
  table.device = name_or(document, "device_name", stem_of(file), table);
  table.kernel = name_or(document, "kernel_name", "kernel", table);
  const std::vector<std::string> names = parameters_of(document, whole);
  RowBuilder rows(file, table.kernel, names);
  if (const auto size = document.find("problem_size"); size != document.end() && !size->is_null())
    table.kernel += " " + size_text(*size);
  const json& cache = member(document, "cache", whole);
  if (!cache.is_object()) throw_at(whole, "\"cache\" must be an object with one entry per configuration");
  for (const auto& [key, entry] : cache.items()) {
    const Place place{file, fmt::format("configuration \"{}\"", key)};
    if (!entry.is_object()) throw_at(place, "it must be an object");
    rows.add(values_of(entry, key, names, place), time_of(entry, place));
  }
  table.rows = rows.finish();
  for (std::string& note : rows.notes()) table.notes.push_back(std::move(note));
  return table;
}

}  // namespace lehr
