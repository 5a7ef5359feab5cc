// What the reader of a JSON table needs: checked access, and knob values of any kind as whole numbers.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
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
/// What a format has to say of one row's time.
using Microseconds = std::optional<double>;

/// Name of a file without its folder, ".gz" and one more ending: what stands for a device or a kernel that a
/// file does not name.
std::string stem_of(const std::string& file);

/// Collects rows whose knobs have values of any JSON type, then gives each knob whole numbers: as they are
/// where all values of the knob are whole (true and false are 1 and 0), else by their position among the
/// knob's values, in ascending order (null, numbers, objects, lists, text).
class RowBuilder {
 public:
  /// Knob names as the file has them; characters that a knob's name may not have become '_', and of names
  /// that are then equal the later ones get a number.
  RowBuilder(std::string file, std::string family, std::vector<std::string> names);

  /// One value per knob. A time that is not finite and positive is how some programs write a failure.
  void add(const std::vector<nlohmann::json>& values, Microseconds time_us);
  /// The rows; of several with one config the first. Throws Error(kUser) if none has a time.
  std::vector<TableRow> finish();
  /// After finish(), one sentence each: rows that were left out, times that were none.
  std::vector<std::string> notes() const;

 private:
  std::string file_, family_;
  std::vector<std::string> names_;
  std::vector<std::vector<nlohmann::json>> values_;
  std::vector<Microseconds> times_us_;
  std::size_t repeats_ = 0, no_times_ = 0;
};

}  // namespace lehr
