// Options from their rows (api/lehr.h): names of flags, and the sentences for invalid values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/lehr.h"

namespace lehr::api {

/// Returns the flag of a member: "--run-timeout" of "run_timeout_s". A switch that is on by default has
/// "--no-": "--no-winograd".
std::string flag_of(std::string_view member, const OptionRow& row, bool is_on = false);
/// Returns the words of OptionRow::choices.
std::vector<std::string> choices_of(const OptionRow& row);

/// Throws lehr::Error with one sentence that names the flag for a value that the option's row does not allow.
class Checker {
 public:
  void operator()(std::string_view member, int value, const OptionRow& row) const;
  void operator()(std::string_view member, double value, const OptionRow& row) const;
  void operator()(std::string_view member, const std::optional<double>& value, const OptionRow& row) const;
  void operator()(std::string_view member, const std::string& value, const OptionRow& row) const;
  void operator()(std::string_view, const auto&, const OptionRow&) const {}
};

/// Checks each of the options.
template <typename Options>
void check(const Options& options) {
  const Checker checker;
  describe(checker, options);
}

/// Replaces flags by the members of options that they stand for: "--time 1" by "time_s 1". A command line in
/// the sentence ("lehr tune --time 1") keeps its flags.
std::string with_members(const std::string& sentence);

}  // namespace lehr::api
