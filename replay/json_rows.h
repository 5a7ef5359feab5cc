// Tools for the reader of a JSON table: checked access, and knob values of any kind as integers.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "replay/table.h"

namespace lehr {

/// A position in a file, for error messages: "FILE: row \"16,32\"".
struct Place {
  std::string file, where;
};

/// Throws Error(kUser): "FILE: WHERE: what".
[[noreturn]] void throw_at(const Place& place, const std::string& what);

/// Returns the member `name` of an object. Throws at `place` if it is missing, or if `object` is not an
/// object.
const nlohmann::json& member(const nlohmann::json& object, std::string_view name, const Place& place);
/// One row's time in a format; nullopt: a failure.
using Microseconds = std::optional<double>;

/// Returns the name of a file without its folder, ".gz" and one more ending. It stands for a device or a
/// kernel that a file does not name.
std::string stem_of(const std::string& file);

/// Collects rows whose knobs have values of any JSON type, then gives each knob integers: the values
/// themselves if all values of the knob are integers (true and false are 1 and 0), else their positions among
/// the knob's values, in ascending order (null, numbers, objects, lists, text).
class RowBuilder {
 public:
  /// Knob names are those of the file. Characters that a knob's name may not have become '_'; if names are
  /// equal then, the later ones get a number.
  RowBuilder(std::string file, std::string family, std::vector<std::string> names);

  /// Adds one value per knob. A time that is not finite and positive is how some programs write a failure.
  void add(const std::vector<nlohmann::json>& values, Microseconds time_us);
  /// Returns the rows; of several with one config the first. Throws Error(kUser) if none has a time.
  std::vector<TableRow> finish();
  /// Returns one sentence each for rows that were left out, and times that were not valid. Call it after
  /// finish().
  std::vector<std::string> notes() const;

 private:
  std::string file_, family_;
  std::vector<std::string> names_;
  std::vector<std::vector<nlohmann::json>> values_;
  std::vector<Microseconds> times_us_;
  std::size_t repeats_ = 0, no_times_ = 0;
};

}  // namespace lehr
