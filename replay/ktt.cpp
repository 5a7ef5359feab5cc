// KTT's JSON results: see formats.h.
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
    std::vector<json> values;
    for (std::size_t k = 0; k < names.size(); ++k) {
      if (const std::string name = text_member(configuration[k], "Name", place); name != names[k])
        throw_at(place,
                 fmt::format("parameter {} is \"{}\", in the first result \"{}\"", k + 1, name, names[k]));
      values.push_back(member(configuration[k], "Value", place));
    }
    std::optional<double> time;
    if (text_member(results[i], "Status", place) == "Ok") {
      const json& duration = member(results[i], "TotalDuration", place);
      if (!duration.is_number()) throw_at(place, "\"TotalDuration\" must be a number");
      time = duration.get<double>() * scale;
    }
    rows->add(values, time, place);
  }
  table.rows = rows->finish();
  if (rows->repeats() > 0)
    table.notes.push_back(
        fmt::format("{} repeated configurations; the first of each counts", rows->repeats()));
  return table;
}

}  // namespace lehr
