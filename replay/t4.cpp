// T4 results: see formats.h.
#include <filesystem>

#include "base/error.h"
#include "replay/formats.h"
#include "replay/json_rows.h"

namespace lehr {
namespace {

using nlohmann::json;

double microseconds_per(const std::string& unit, const Place& place) {
  if (unit == "ns" || unit == "nanoseconds") return 1e-3;
  if (unit == "us" || unit == "microseconds") return 1;
  if (unit == "ms" || unit == "milliseconds" || unit.empty()) return 1e3;
  if (unit == "s" || unit == "seconds") return 1e6;
  throw_at(place,
           fmt::format("the unit \"{}\" is no unit of time; a table's objective must be a time", unit));
}

// The measurement that the first objective names, in microseconds.
std::optional<double> time_of(const json& result, const Place& place) {
  if (text_member(result, "invalidity", place) != "correct") return std::nullopt;
  std::string objective = "time";
  if (const auto found = result.find("objectives");
      found != result.end() && found->is_array() && !found->empty()) {
    if (!found->front().is_string()) throw_at(place, "\"objectives\" must hold names");
    objective = found->front().get<std::string>();
  }
  const json& measurements = member(result, "measurements", place);
  if (!measurements.is_array()) throw_at(place, "\"measurements\" must be a list");
  for (const json& each : measurements) {
    if (text_member(each, "name", place) != objective) continue;
    const json& value = member(each, "value", place);
    if (!value.is_number()) throw_at(place, fmt::format("the value of \"{}\" must be a number", objective));
    const std::string unit = each.contains("unit") ? text_member(each, "unit", place) : "";
    return value.get<double>() * microseconds_per(unit, place);
  }
  throw_at(place, fmt::format("no measurement is called \"{}\"", objective));
}

}  // namespace

Table read_t4(const json& document, const std::string& file) {
  const json& results = member(document, "results", {file, ""});
  if (!results.is_array() || results.empty())
    throw_at({file, ""}, "\"results\" must be a list of results, and not empty");
  Table table;
  table.file = file;
  table.device = std::filesystem::path(file).stem().string();
  table.kernel = "T4";
  table.notes.push_back("T4 results name neither device nor kernel; the file's name stands for the device");
  std::vector<std::string> names;
  std::optional<RowBuilder> rows;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Place place{file, fmt::format("result {}", i + 1)};
    const json& configuration = member(results[i], "configuration", place);
    if (!configuration.is_object())
      throw_at(place, "\"configuration\" must be an object with one value per parameter");
    if (!rows) {
      for (const auto& [name, value] : configuration.items()) names.push_back(name);
      rows.emplace(file, table.kernel, names);
    }
    if (configuration.size() != names.size())
      throw_at(place,
               fmt::format("it has {} parameters, the first result {}", configuration.size(), names.size()));
    std::vector<json> values;
    for (const std::string& name : names) values.push_back(member(configuration, name, place));
    rows->add(values, time_of(results[i], place), place);
  }
  table.rows = rows->finish();
  if (rows->repeats() > 0)
    table.notes.push_back(
        fmt::format("{} repeated configurations; the first of each counts", rows->repeats()));
  return table;
}

}  // namespace lehr
