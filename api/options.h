// Derives from the rows of options (api/lehr.h) the names of flags, and the sentences for invalid values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lehr.h"

namespace lehr::api {

/// Returns the flag of a member: "--run-timeout" for "run_timeout_s". `is_on` is true for a switch that is on
/// by default; the flag of such a switch begins with "--no-": "--no-winograd".
std::string flag_of(std::string_view member, const OptionRow& row, bool is_on = false);
/// Returns the words of OptionRow::choices.
std::vector<std::string> choices_of(const OptionRow& row);

/// Checks values of options. Throws lehr::Error if the option's row does not allow the value; its sentence
/// names the flag.
class Checker {
 public:
  void operator()(std::string_view member, int value, const OptionRow& row) const;
  void operator()(std::string_view member, double value, const OptionRow& row) const;
  void operator()(std::string_view member, const std::optional<double>& value, const OptionRow& row) const;
  void operator()(std::string_view member, const std::string& value, const OptionRow& row) const;
  void operator()(std::string_view, const auto&, const OptionRow&) const {}
};

/// Checks the values of all options in a struct.
template <typename Options>
void check(const Options& options) {
  const Checker checker;
  describe(checker, options);
}

/// Returns the sentence with each flag replaced by the member that it stands for: "--time 1" becomes "time_s
/// 1". A command line in the sentence ("lehr tune --time 1") keeps its flags.
std::string with_members(const std::string& sentence);

}  // namespace lehr::api
