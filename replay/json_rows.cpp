// Rows from JSON: see json_rows.h.
#include "replay/json_rows.h"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <unordered_set>

#include "base/error.h"

namespace lehr {
namespace {

using nlohmann::json;

std::string name_from(std::string text) {
  for (char& c : text)
    if (!is_name(std::string_view(&c, 1))) c = '_';
  return text.empty() ? "_" : text;
}

// About half of the files write 0 and 1 as false and true.
json number_like(const json& value) {
  if (value.is_boolean()) return value.get<bool>() ? 1 : 0;
  if (value.is_number_float()) {
    const double number = value.get<double>();
    if (number == std::floor(number) && std::fabs(number) < 1e15) return static_cast<std::int64_t>(number);
  }
  return value;
}

}  // namespace

void throw_at(const Place& place, const std::string& what) {
  throw_user("{}: {}{}{}", place.file, place.where, place.where.empty() ? "" : ": ", what);
}

const json& member(const json& object, std::string_view name, const Place& place) {
  if (!object.is_object())
    throw_at(place, fmt::format("{} is expected where a {} is", "an object", object.type_name()));
  const auto found = object.find(name);
  if (found == object.end()) throw_at(place, fmt::format("\"{}\" is missing", name));
  return *found;
}

std::string stem_of(const std::string& file) {
  std::filesystem::path path(file);
  if (path.extension() == ".gz") path = path.stem();
  return path.stem().string();
}

RowBuilder::RowBuilder(std::string file, std::string family, std::vector<std::string> names)
    : file_(std::move(file)), family_(name_from(std::move(family))) {
  for (std::string& name : names) {
    const std::string wanted = name_from(std::move(name));
    std::string free = wanted;
    for (int i = 2; std::ranges::find(names_, free) != names_.end(); ++i)
      free = fmt::format("{}_{}", wanted, i);
    names_.push_back(std::move(free));
  }
}

void RowBuilder::add(const std::vector<json>& values, Microseconds time_us) {
  CHECK(values.size() == names_.size(), "{} values for {} knobs", values.size(), names_.size());
  if (time_us && !(std::isfinite(*time_us) && *time_us > 0)) {
    time_us.reset();
    ++no_times_;
  }
  std::vector<json>& row = values_.emplace_back();
  for (const json& value : values) row.push_back(number_like(value));
  times_us_.push_back(time_us);
}

std::vector<std::string> RowBuilder::notes() const {
  std::vector<std::string> notes;
  if (repeats_ > 0)
    notes.push_back(fmt::format("{} repeated configurations; the first of each counts", repeats_));
  if (no_times_ > 0)
    notes.push_back(fmt::format("{} times that are 0, negative or infinite count as failures", no_times_));
  return notes;
}

std::vector<TableRow> RowBuilder::finish() {
  if (std::ranges::none_of(times_us_, [](const auto& time) { return time.has_value(); }))
    throw_user("{} holds {} rows, none of which has a time: there is nothing to search for", file_,
               values_.size());
  // For each knob whose values are not all integers, the integer of each value.
  std::vector<std::map<json, std::int64_t>> codes(names_.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    if (std::ranges::all_of(values_, [&](const auto& row) { return row[i].is_number_integer(); })) continue;
    for (const auto& row : values_) codes[i].emplace(row[i], 0);
    std::int64_t next = 0;
    for (auto& [value, code] : codes[i]) code = next++;
  }
  std::vector<TableRow> rows;
  std::unordered_set<Config, ConfigHash> known;
  for (std::size_t r = 0; r < values_.size(); ++r) {
    Config config{family_, {}};
    for (std::size_t i = 0; i < names_.size(); ++i)
      config.knobs.push_back(
          {names_[i], codes[i].empty() ? values_[r][i].get<std::int64_t>() : codes[i].at(values_[r][i])});
    if (!known.insert(config).second) {
      ++repeats_;
      continue;
    }
    rows.push_back({std::move(config), times_us_[r]});
  }
  return rows;
}

}  // namespace lehr
