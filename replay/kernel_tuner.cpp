// Kernel Tuner cache files: see formats.h.
#include <fmt/ranges.h>

#include "base/error.h"
#include "replay/formats.h"
#include "replay/json_rows.h"

namespace lehr {
namespace {

using nlohmann::json;

constexpr double kFailedBefore2021 = 1e20;  // Kernel Tuner's number for a failure before it labelled them

// "4096x4096", "1024", or what else a problem size may be.
std::string size_text(const json& size) {
  if (!size.is_array()) return size.is_string() ? size.get<std::string>() : size.dump();
  std::string text;
  for (const json& each : size) text += (text.empty() ? "" : "x") + size_text(each);
  return text;
}

std::optional<double> time_of(const json& entry, const Place& place) {
  const json& time = member(entry, "time", place);
  if (time.is_string()) return std::nullopt;
  if (!time.is_number())
    throw_at(place,
             fmt::format("\"time\" must be milliseconds or a failure's name, not {}", time.type_name()));
  const double ms = time.get<double>();
  return ms >= kFailedBefore2021 ? std::nullopt : std::optional(ms * 1e3);
}

}  // namespace

bool close_kernel_tuner_cache(std::string& text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string::npos || text.find("\"cache\"") == std::string::npos) return false;
  text.resize(end + 1);
  if (text.back() == ',') text.pop_back();
  if (text.back() != '}') return false;
  text += "}}";
  return true;
}

Table read_kernel_tuner(const json& document, const std::string& file) {
  const Place whole{file, ""};
  Table table;
  table.file = file;
  table.device = text_member(document, "device_name", whole);
  table.kernel = text_member(document, "kernel_name", whole);
  const json& keys = member(document, "tune_params_keys", whole);
  if (!keys.is_array() || keys.empty())
    throw_at(whole, "\"tune_params_keys\" must be a list of parameter names");
  std::vector<std::string> names;
  for (const json& key : keys) {
    if (!key.is_string()) throw_at(whole, "\"tune_params_keys\" must hold names, not " + key.dump());
    names.push_back(key.get<std::string>());
  }
  RowBuilder rows(file, table.kernel, names);
  if (const auto size = document.find("problem_size"); size != document.end())
    table.kernel += " " + size_text(*size);
  const json& cache = member(document, "cache", whole);
  if (!cache.is_object()) throw_at(whole, "\"cache\" must be an object with one entry per configuration");
  for (const auto& [key, entry] : cache.items()) {
    const Place place{file, fmt::format("configuration \"{}\"", key)};
    std::vector<json> values;
    for (const std::string& name : names) values.push_back(member(entry, name, place));
    rows.add(values, time_of(entry, place), place);
  }
  table.rows = rows.finish();
  return table;
}

}  // namespace lehr
