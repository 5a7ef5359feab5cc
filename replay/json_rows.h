// Tools for reading a JSON table: checked access, and the conversion of knob values of any JSON type to
// integers.
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

/// Returns the member `name` of an object. Throws an error at `place` if the member is missing, or if
/// `object` is not an object.
const nlohmann::json& member(const nlohmann::json& object, std::string_view name, const Place& place);
/// Time of a row; nullopt: the row is a failure.
using Microseconds = std::optional<double>;

/// Returns the name of a file without its folder, without ".gz" and without one more ending. It is used as
/// the name of a device or kernel that the file does not name.
std::string stem_of(const std::string& file);

/// Collects rows whose knobs have values of any JSON type, and then converts the values to integers. If all
/// values of a knob are integers, they are kept (true and false become 1 and 0). If not, each becomes its
/// position among the knob's values in ascending order (null, numbers, objects, lists, text).
class RowBuilder {
 public:
  /// `names` are the knobs' names in the file. Characters that a knob's name must not have become '_'. If two
  /// names are equal then, the later one gets a number.
  RowBuilder(std::string file, std::string family, std::vector<std::string> names);

  /// Adds a row with one value per knob. A time that is not finite or not positive counts as a failure, since
  /// some programs write failures like this.
  void add(const std::vector<nlohmann::json>& values, Microseconds time_us);
  /// Returns the rows. If several rows have the same config, only the first is returned. Throws Error(kUser)
  /// if no row has a time.
  std::vector<TableRow> finish();
  /// Returns a sentence about rows that were left out and a sentence about times that were not valid, if
  /// there were any. Call it after finish().
  std::vector<std::string> notes() const;

 private:
  std::string file_, family_;
  std::vector<std::string> names_;
  std::vector<std::vector<nlohmann::json>> values_;
  std::vector<Microseconds> times_us_;
  std::size_t repeats_ = 0, no_times_ = 0;
};

}  // namespace lehr
