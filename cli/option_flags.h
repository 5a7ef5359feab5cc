// Makes flags from options that describe themselves (api/lehr.h).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/options.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace lehr {

/// Sizes to which smaller sizes may be rounded up, by field.
using Buckets = std::map<std::string, std::vector<std::int64_t>>;

/// Sets an option's value to the text after its flag. Throws Error(kUser) with one sentence.
void read_value(const std::string& flag, const std::string& text, const api::OptionRow& row, int& value);
void read_value(const std::string& flag, const std::string& text, const api::OptionRow&,
                std::uint64_t& value);
void read_value(const std::string& flag, const std::string& text, const api::OptionRow&, double& seconds);
void read_value(const std::string& flag, const std::string& text, const api::OptionRow&,
                std::optional<double>& share);
void read_value(const std::string& flag, const std::string& text, const api::OptionRow& row,
                std::optional<bool>& value);
void read_value(const std::string& flag, const std::string& text, const api::OptionRow& row,
                std::string& value);
void read_value(const std::string& flag, const std::string& text, const api::OptionRow&, Buckets& value);

/// Returns a default value as a user would write it; "" for types whose default cannot be written.
std::string usual_text(int value);
std::string usual_text(std::uint64_t value);
std::string usual_text(double seconds);
std::string usual_text(const std::string& value);
std::string usual_text(const auto&) {
  return "";
}

class OptionFlags {
 public:
  /// Adds flags for all options, or only for the named members. It may be called for several commands, of
  /// which the user chooses one.
  template <typename Options>
  void add(CLI::App& app, const std::vector<std::string_view>& members = {}) {
    const auto flag = [&](std::string_view member, const auto& usual, const api::OptionRow& row) {
      if (members.size() > 0 && std::ranges::find(members, member) == members.end()) return;
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(usual)>, bool>)
        add_switch(app, api::flag_of(member, row, usual), row);
      else
        add_value(app, api::flag_of(member, row), row, usual_text(usual));
    };
    const Options usual;
    describe(flag, usual);
  }

  /// Returns `options` with the values of the given flags. Throws Error(kUser) with one sentence for an
  /// invalid value.
  template <typename Options>
  Options read(Options options = {}) const {
    const auto option = [&](std::string_view member, auto& value, const api::OptionRow& row) {
      if constexpr (std::is_same_v<std::remove_cvref_t<decltype(value)>, bool>) {
        value = value != is_given(api::flag_of(member, row, value));
      } else {
        const std::string flag = api::flag_of(member, row);
        if (is_given(flag)) read_value(flag, texts_.at(flag), row, value);
      }
    };
    describe(option, options);
    return options;
  }

  bool is_given(const std::string& flag) const;

 private:
  void add_switch(CLI::App& app, const std::string& flag, const api::OptionRow& row);
  void add_value(CLI::App& app, const std::string& flag, const api::OptionRow& row, const std::string& usual);

  std::map<std::string, std::string> texts_;
  std::map<std::string, std::vector<const CLI::Option*>> options_;
};

}  // namespace lehr
