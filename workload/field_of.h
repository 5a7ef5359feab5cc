// Rows of an operator's table, made from members of a workload or of its operator. For the operators' own
// files.
#pragma once

#include <array>
#include <cstdint>
#include <type_traits>

#include "workload/field.h"
#include "workload/field_values.h"
#include "workload/workload.h"

namespace lehr {

template <typename Owner, typename Value>
Owner owner_of(Value Owner::*);

/// Returns the member of a workload, or of its operator.
template <auto kMember>
auto& member_of(auto& workload) {
  using Owner = decltype(owner_of(kMember));
  if constexpr (std::is_same_v<Owner, Workload>)
    return workload.*kMember;
  else
    return std::get<Owner>(workload.problem).*kMember;
}

template <auto kMember>
constexpr Field field(std::string_view key, std::string_view help = {}) {
  return {.key = key,
          .help = help,
          .append = [](const Workload& w, std::string& text) { append_value(text, member_of<kMember>(w)); },
          .read = [](const Field& row, std::string_view name, std::string_view value,
                     Workload& w) { read_value(row, name, value, member_of<kMember>(w)); },
          .distance =
              [](const Workload& a, const Workload& b) {
                return value_distance(member_of<kMember>(a), member_of<kMember>(b));
              }};
}

/// Makes a field of numbers with an x between them: a vertical and a horizontal one, or the padding on four
/// sides.
template <auto... kMembers>
constexpr Field numbers(std::string_view key, std::string_view help) {
  return {.key = key,
          .help = help,
          .append = [](const Workload& w,
                       std::string& text) { append_value(text, std::array{member_of<kMembers>(w)...}); },
          .read = [](const Field&, std::string_view name, std::string_view value,
                     Workload& w) { read_value(name, value, std::array{&member_of<kMembers>(w)...}); },
          .distance =
              [](const Workload& a, const Workload& b) {
                return value_distance(std::array{member_of<kMembers>(a)...},
                                      std::array{member_of<kMembers>(b)...});
              }};
}

/// Makes a flag that stands for other flags; the operator's complete() reads it.
constexpr Field shorthand(std::string_view key, std::string_view help) {
  return {.key = key, .help = help};
}

}  // namespace lehr
