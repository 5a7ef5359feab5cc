// Names of which there are few and copies many.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <string>
#include <string_view>

namespace lehr {

class InternedText;

/// A text of any other type.
template <typename Text>
concept Characters = !std::same_as<Text, InternedText> && std::convertible_to<const Text&, std::string_view>;

/// A text that is kept once, for ever: a copy is one word, and equal texts are the same one. To make one from
/// characters takes a look-up and a lock; from any thread.
class InternedText {
 public:
  InternedText() : InternedText(std::string_view()) {}
  template <Characters Text>
  InternedText(const Text& text) : text_(kept(text)) {}  // NOLINT: implicit on purpose

  const std::string& text() const { return *text_; }
  operator std::string_view() const { return *text_; }  // NOLINT: implicit on purpose

  friend bool operator==(InternedText a, InternedText b) { return a.text_ == b.text_; }
  /// Characters are compared as they are, and not kept.
  template <Characters Text>
  friend bool operator==(InternedText a, const Text& b) {
    return *a.text_ == std::string_view(b);
  }

 private:
  static const std::string* kept(std::string_view text);
  const std::string* text_;
};

}  // namespace lehr

template <>
struct fmt::formatter<lehr::InternedText> : fmt::formatter<std::string_view> {
  template <typename Context>
  auto format(const lehr::InternedText& text, Context& context) const {
    return fmt::formatter<std::string_view>::format(text.text(), context);
  }
};
