// Converts described structs (base/describe.h) and optional values to and from JSON. `json document = timing`
// makes an object that has each member under its name, and `document.get<Timing>()` reads it back. An empty
// optional is null.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>

#include "base/describe.h"

namespace nlohmann {

template <lehr::Described T>
struct adl_serializer<T, void> {
  static void to_json(json& object, const T& value) {
    object = json::object();
    const auto field = [&object](const char* name, const auto& member, const auto&...) {
      object[name] = member;
    };
    describe(field, value);
  }
  /// Throws json::exception if a member is missing or has another type.
  static void from_json(const json& object, T& value) {
    const auto field = [&object](const char* name, auto& member, int = 1) { object.at(name).get_to(member); };
    describe(field, value);
  }
};

template <typename T>
struct adl_serializer<lehr::Known<T>, void> {
  static void to_json(json& document, const lehr::Known<T>& known) {
    document = known.value == T() ? json(nullptr) : json(known.value);
  }
};

template <typename T>
struct adl_serializer<std::optional<T>, void> {
  static void to_json(json& document, const std::optional<T>& value) {
    if (value)
      document = *value;
    else
      document = nullptr;
  }
  static void from_json(const json& document, std::optional<T>& value) {
    if (document.is_null())
      value.reset();
    else
      document.get_to(value.emplace());
  }
};

}  // namespace nlohmann

namespace lehr {

/// Returns null for a number or text that is not known (0 or ""), else the value.
template <typename T>
nlohmann::json known_or_null(const T& value) {
  return value == T() ? nlohmann::json(nullptr) : nlohmann::json(value);
}

}  // namespace lehr
