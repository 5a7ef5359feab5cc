// Texts that need no memory of their own.
#pragma once

#include <cstddef>
#include <string_view>

namespace lehr {

/// A text that exists as long as the program, e.g. a literal.
class StaticText : public std::string_view {
 public:
  StaticText() = default;
  template <std::size_t kSize>
  consteval StaticText(const char (&literal)[kSize])  // NOLINT: implicit on purpose
      : std::string_view(literal, kSize - 1) {}
  /// Returns `text`, which the caller must never free.
  static StaticText lasting(std::string_view text) { return StaticText(text); }

 private:
  explicit StaticText(std::string_view text) : std::string_view(text) {}
};

}  // namespace lehr
