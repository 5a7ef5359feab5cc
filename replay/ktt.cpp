// KTT's JSON results: see formats.h.
#include <algorithm>
#include <map>

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

Place place_of(const std::string& file, std::size_t result) {
  return {file, fmt::format("result {}", result + 1)};
}

/// One kernel's part of "Results": their places in the list.
struct KernelResults {
  std::string kernel;
  std::vector<std::size_t> at;
};

std::vector<KernelResults> by_kernel(const json& results, const std::string& file) {
  std::vector<KernelResults> kernels;
  std::map<std::string, std::size_t> known;
  for (std::size_t i = 0; i < results.size(); ++i) {
    const std::string name = text_member(results[i], "KernelName", place_of(file, i));
    const std::size_t kernel = known.emplace(name, kernels.size()).first->second;
    if (kernel == kernels.size()) kernels.push_back({name, {}});
    kernels[kernel].at.push_back(i);
  }
  return kernels;
}

const json& configuration_of(const json& result, const Place& place) {
  const json& configuration = member(result, "Configuration", place);
  if (!configuration.is_array()) throw_at(place, "\"Configuration\" must be a list of names and values");
  return configuration;
}

/// The values of `names`: members of one list, whose order may differ.
std::vector<json> values_of(const json& result, const std::vector<std::string>& names, const Place& place) {
  const json& configuration = configuration_of(result, place);
  if (configuration.size() != names.size())
    throw_at(place, fmt::format("it has {} parameters, the first result of its kernel {}",
                                configuration.size(), names.size()));
  std::vector<json> values;
  for (const std::string& name : names) {
    const auto found = std::ranges::find_if(
        configuration, [&](const json& each) { return text_member(each, "Name", place) == name; });
    if (found == configuration.end())
      throw_at(place, fmt::format("the parameter \"{}\" of the first result of its kernel is missing", name));
    values.push_back(member(*found, "Value", place));
  }
  return values;
}

Microseconds time_of(const json& result, double scale, const Place& place) {
  if (text_member(result, "Status", place) != "Ok") return std::nullopt;
  const json& duration = member(result, "TotalDuration", place);
  if (!duration.is_number() && !duration.is_null()) throw_at(place, "\"TotalDuration\" must be a number");
  return duration.is_number() ? Microseconds(duration.get<double>() * scale) : std::nullopt;
}

}  // namespace

std::vector<Table> read_ktt(const json& document, const std::string& file) {
  // A name of its own: g++ 14 takes a temporary among the arguments for what the reference refers to.
  const Place whole{file, ""}, head{file, "Metadata"};
  const json& metadata = member(document, "Metadata", whole);
  const std::string device = text_member(metadata, "Device", head);
  const double scale = microseconds_per(text_member(metadata, "TimeUnit", head), head);
  const json& results = member(document, "Results", whole);
  if (!results.is_array() || results.empty())
    throw_at(whole, "\"Results\" must be a list of results, and not empty");
  const std::vector<KernelResults> kernels = by_kernel(results, file);
  std::vector<Table> tables;
  std::vector<std::string> left_out;
  for (const KernelResults& each : kernels) {
    std::vector<std::string> names;
    const Place first = place_of(file, each.at[0]);
    for (const json& parameter : configuration_of(results[each.at[0]], first))
      names.push_back(text_member(parameter, "Name", first));
    RowBuilder rows(file, each.kernel, names);
    for (const std::size_t i : each.at) {
      const Place place = place_of(file, i);
      rows.add(values_of(results[i], names, place), time_of(results[i], scale, place));
    }
    if (!rows.has_times() && kernels.size() > 1) {
      left_out.push_back(fmt::format("its kernel \"{}\" has no timed result and is left out", each.kernel));
      continue;
    }
    Table& table = tables.emplace_back();
    table.file = file;
    table.device = device;
    table.kernel = each.kernel;
    table.rows = rows.finish();
    table.notes = rows.notes();
  }
  if (tables.empty()) throw_at({file, ""}, "none of its results has a time");
  tables[0].notes.insert(tables[0].notes.end(), left_out.begin(), left_out.end());
  return tables;
}

}  // namespace lehr
