// What the readers of JSON tables share: checked access, and knob values of any kind as whole numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// A place in a file, for error messages: "FILE: row \"16,32\"".
struct Place {
  std::string file, where;
};

/// Throws Error(kUser): "FILE: WHERE: what".
[[noreturn]] void throw_at(const Place& place, const std::string& what);

/// The member `name` of an object. Throws at `place` if there is none, or if `object` is no object.
const nlohmann::json& member(const nlohmann::json& object, std::string_view name, const Place& place);
/// A member that is text.
std::string text_member(const nlohmann::json& object, std::string_view name, const Place& place);

/// Collects rows whose knobs have values of any JSON type, then gives each knob whole numbers: as they are
/// where all values of the knob are whole (true and false are 1 and 0), else by their position among the
/// knob's values, in ascending order.
class RowBuilder {
 public:
  /// Knob names as the file has them; characters that a knob's name may not have become '_'.
  RowBuilder(std::string file, std::string family, std::vector<std::string> names);

  /// One value per knob. `time_us` must be finite and positive. Throws at `place` for a value that is neither
  /// number, text nor boolean.
  void add(const std::vector<nlohmann::json>& values, std::optional<double> time_us, const Place& place);
  /// The rows; of several with one config the first. Throws Error(kUser) if none has a time.
  std::vector<TableRow> finish();
  /// Rows that finish() left out.
  std::size_t repeats() const { return repeats_; }

  std::size_t knobs() const { return names_.size(); }

 private:
  std::string file_, family_;
  std::vector<std::string> names_;
  std::vector<std::vector<nlohmann::json>> values_;
  std::vector<std::optional<double>> times_us_;
  std::size_t repeats_ = 0;
};

}  // namespace lehr
