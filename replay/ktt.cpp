// KTT's JSON results: see formats.h.
#include <algorithm>

#include "base/error.h"
#include "replay/formats.h"
#include "replay/json_rows.h"

namespace lehr {
namespace {

using nlohmann::json;

double microseconds_per(const std::string& unit, const Place& place) {
  if (unit == "Nanoseconds") return 1e-3;
  if (unit == "Microseconds") return 1;
  if (unit == "Milliseconds") return 1e3;
  if (unit == "Seconds") return 1e6;
  throw_at(
      place,
      fmt::format("the unit \"{}\" is not one of Nanoseconds, Microseconds, Milliseconds, Seconds", unit));
}

}  // namespace

Table read_ktt(const json& document, const std::string& file) {
  const Place head{file, "Metadata"};
  const json& metadata = member(document, "Metadata", {file, ""});
  Table table;
  table.file = file;
  table.device = text_member(metadata, "Device", head);
  const double scale = microseconds_per(text_member(metadata, "TimeUnit", head), head);
  const json& results = member(document, "Results", {file, ""});
  if (!results.is_array() || results.empty())
    throw_at({file, ""}, "\"Results\" must be a list of results, and not empty");
  std::vector<std::string> names;
  std::optional<RowBuilder> rows;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const Place place{file, fmt::format("result {}", i + 1)};
    const json& configuration = member(results[i], "Configuration", place);
    if (!configuration.is_array()) throw_at(place, "\"Configuration\" must be a list of names and values");
    if (!rows) {
      table.kernel = text_member(results[i], "KernelName", place);
      for (const json& parameter : configuration) names.push_back(text_member(parameter, "Name", place));
      rows.emplace(file, table.kernel, names);
    }
    if (configuration.size() != names.size())
      throw_at(place,
               fmt::format("it has {} parameters, the first result {}", configuration.size(), names.size()));
    // Members of one list, whose order may differ.
    std::vector<json> values;
    for (const std::string& name : names) {
      const auto found = std::ranges::find_if(
          configuration, [&](const json& each) { return text_member(each, "Name", place) == name; });
      if (found == configuration.end())
        throw_at(place, fmt::format("the parameter \"{}\" of the first result is missing", name));
      values.push_back(member(*found, "Value", place));
    }
    Microseconds time;
    if (text_member(results[i], "Status", place) == "Ok") {
      const json& duration = member(results[i], "TotalDuration", place);
      if (!duration.is_number() && !duration.is_null()) throw_at(place, "\"TotalDuration\" must be a number");
      if (duration.is_number()) time = duration.get<double>() * scale;
    }
    rows->add(values, time);
  }
  table.rows = rows->finish();
  table.notes = rows->notes();
  return table;
}

}  // namespace lehr
