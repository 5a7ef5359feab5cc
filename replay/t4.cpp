// T4 results: see formats.h.
#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "replay/formats.h"
#include "replay/json_rows.h"

namespace lehr {
namespace {

using nlohmann::json;

// nullopt for what is no unit of time. "miliseconds" is how the files of the benchmark hub have it.
std::optional<double> microseconds_per(const std::string& text) {
  const std::string unit = lower_case(text);
  if (unit == "ns" || unit == "nanoseconds") return 1e-3;
  if (unit == "us" || unit == "microseconds") return 1;
  if (unit == "ms" || unit == "milliseconds" || unit == "miliseconds") return 1e3;
  if (unit == "s" || unit == "seconds") return 1e6;
  return std::nullopt;
}

/// A measurement of a result, as far as it is one of time.
struct Measured {
  bool is_time = false;
  Microseconds time_us;  ///< nullopt: the value is no number
};
Measured measured(const json& measurement, double file_unit, const Place& place) {
  const json& value = member(measurement, "value", place);
  const auto unit = measurement.find("unit");
  const bool no_unit = unit == measurement.end() || !unit->is_string() || unit->get<std::string>().empty();
  const std::optional<double> scale =
      no_unit ? std::optional(file_unit) : microseconds_per(unit->get<std::string>());
  if (!scale) return {};
  return {true, value.is_number() ? std::optional(value.get<double>() * *scale) : std::nullopt};
}

/// Work in a second, of one kernel: largest where the time is shortest. Work per joule or watt is another
/// matter.
bool is_rate(const std::string& objective) {
  const std::string name = lower_case(objective);
  return name.ends_with("/s") || name.ends_with("flops");
}

/// The first objective; "time" where none is named.
std::string objective_of(const json& result, const Place& place) {
  const auto found = result.find("objectives");
  if (found == result.end() || !found->is_array() || found->empty()) return "time";
  if (!found->front().is_string()) throw_at(place, "\"objectives\" must hold names");
  return found->front().get<std::string>();
}

bool is_right(const json& result) {
  const auto invalidity = result.find("invalidity");
  if (invalidity != result.end() && !invalidity->is_null() && *invalidity != "correct") return false;
  const auto correctness = result.find("correctness");
  return correctness == result.end() || *correctness != 0;
}

/// nullopt: there is none of this name that is a time.
std::optional<Measured> time_named(const json& list, const std::string& name, double file_unit,
                                   const Place& place) {
  const auto each = std::ranges::find_if(
      list, [&](const json& entry) { return text_member(entry, "name", place) == name; });
  if (each == list.end()) return std::nullopt;
  // A score or GFLOP/s has no unit, as Kernel Tuner's times may have none: the name tells.
  const auto unit = each->find("unit");
  const bool unitless = unit == each->end() || *unit == "" || unit->is_null();
  if (unitless && name.find("time") == std::string::npos) return std::nullopt;
  const Measured found = measured(*each, file_unit, place);
  return found.is_time ? std::optional(found) : std::nullopt;
}

Microseconds mean_run_time(const json& runs, double file_unit) {
  double sum = 0;
  for (const json& run : runs) {
    if (!run.is_number()) return std::nullopt;
    sum += run.get<double>() * file_unit;
  }
  return sum / static_cast<double>(runs.size());
}

// What the first objective names if it is a time; "time" where it is a rate or not measured, else the mean of
// the run times.
Microseconds time_of(const json& result, double file_unit, const Place& place) {
  if (!is_right(result)) return std::nullopt;
  const std::string objective = objective_of(result, place);
  const json none = json::array();
  const auto measurements = result.find("measurements");
  const json& list = measurements != result.end() ? *measurements : none;
  if (!list.is_array()) throw_at(place, "\"measurements\" must be a list");
  if (const auto found = time_named(list, objective, file_unit, place)) return found->time_us;
  if (!is_rate(objective) && lower_case(objective).find("time") == std::string::npos)
    throw_at(place,
             fmt::format(
                 "its objective is \"{}\", and what is replayed are searches for the shortest time: it must "
                 "be a time, or work in a second",
                 objective));
  if (const auto found = time_named(list, "time", file_unit, place)) return found->time_us;
  if (const auto times = result.find("times"); times != result.end() && times->is_object()) {
    const auto runs = times->find("runtimes");
    if (runs != times->end() && runs->is_array() && !runs->empty()) return mean_run_time(*runs, file_unit);
  }
  throw_at(place,
           fmt::format("it has no time: no measurement \"{}\" or \"time\" in a unit of time, and no run "
                       "times",
                       objective));
}

// Of times without a unit of their own.
double unit_of_file(const json& document, const Place& place) {
  const auto metadata = document.find("metadata");
  if (metadata == document.end() || !metadata->is_object() || !metadata->contains("timeunit")) return 1e3;
  const std::string unit = text_member(*metadata, "timeunit", place);
  const auto scale = microseconds_per(unit);
  if (!scale) throw_at(place, fmt::format("the \"timeunit\" \"{}\" is no unit of time", unit));
  return *scale;
}

}  // namespace

Table read_t4(const json& document, const std::string& file) {
  const Place whole{file, ""};  // a name, as in read_ktt()
  const json& results = member(document, "results", whole);
  if (!results.is_array() || results.empty())
    throw_at(whole, "\"results\" must be a list of results, and not empty");
  Table table;
  table.file = file;
  table.device = stem_of(file);
  table.kernel = "T4";
  table.notes.push_back("T4 results name neither device nor kernel; the file's name stands for the device");
  const double file_unit = unit_of_file(document, {file, "metadata"});
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
    rows->add(values, time_of(results[i], file_unit, place));
  }
  table.rows = rows->finish();
  for (std::string& note : rows->notes()) table.notes.push_back(std::move(note));
  return table;
}

}  // namespace lehr
