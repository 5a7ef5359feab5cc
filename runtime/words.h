// Iterates over the words of a text, which are separated by spaces.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace lehr::runtime {

class Words {
 public:
  explicit Words(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  /// Returns false after the last word.
  bool next(std::string_view& word) {
    while (at_ != end_ && *at_ == ' ') ++at_;
    const char* const begin = at_;
    while (at_ != end_ && *at_ != ' ') ++at_;
    word = {begin, static_cast<std::size_t>(at_ - begin)};
    return !word.empty();
  }

 private:
  const char* at_;
  const char* end_;
};

/// Returns the part of a word before '=': "m" for "m=64". Returns the whole word if it has no '='.
inline std::string_view field_of(std::string_view word) {
  for (std::size_t i = 0; i < word.size(); ++i)
    if (word[i] == '=') return {word.data(), i};
  return word;
}

inline bool has_word(std::string_view text, std::string_view wanted) {
  Words words(text);
  for (std::string_view word; words.next(word);)
    if (word == wanted) return true;
  return false;
}

inline bool has_field(std::string_view text, std::string_view wanted) {
  Words words(text);
  for (std::string_view word; words.next(word);)
    if (field_of(word) == wanted) return true;
  return false;
}

/// Returns the value of a text of digits, from 1 to 10^12 - 1; 0 for any other text.
inline std::uint64_t whole_number(std::string_view digits) {
  std::uint64_t value = 0;
  if (digits.empty() || digits.size() > 12) return 0;
  for (const char digit : digits) {
    if (digit < '0' || digit > '9') return 0;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return value;
}

/// Returns the text without its first `characters` characters. It must have at least as many.
inline std::string_view behind(std::string_view text, std::size_t characters) {
  return {text.data() + characters, text.size() - characters};
}

/// Returns the text after a field's '='; "" if the text does not have the field.
inline std::string_view text_of_field(std::string_view text, std::string_view field) {
  Words words(text);
  for (std::string_view word; words.next(word);)
    if (field_of(word) == field && word.size() > field.size()) return behind(word, field.size() + 1);
  return {};
}

/// Returns a field's value if it is an integer from 1 to 10^12 - 1; else 0.
inline std::uint64_t value_of(std::string_view text, std::string_view field) {
  return whole_number(text_of_field(text, field));
}

/// Reads the value of a field as a range: "16..2048", or "..64", which begins at 1. Returns false if the
/// value is not a range.
inline bool range_of(std::string_view text, std::string_view field, std::uint64_t& least,
                     std::uint64_t& most) {
  const std::string_view reported = text_of_field(text, field);
  for (std::size_t i = 0; i + 1 < reported.size(); ++i) {
    if (reported[i] != '.' || reported[i + 1] != '.') continue;
    least = i == 0 ? 1 : whole_number({reported.data(), i});
    most = whole_number(behind(reported, i + 2));
    return least > 0 && most >= least;
  }
  return false;
}

}  // namespace lehr::runtime
