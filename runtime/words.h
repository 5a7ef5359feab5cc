// Words of a text, separated by spaces.
#pragma once

#include <cstdint>
#include <string_view>

namespace lehr::runtime {

class Words {
 public:
  explicit Words(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}
  /// False behind the last one.
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

/// "m" of "m=64"; the whole of a word without '='.
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

/// The value that a text has for a field, where it is a whole number from 1 to 10^12 - 1; else 0.
inline std::uint64_t value_of(std::string_view text, std::string_view field) {
  Words words(text);
  for (std::string_view word; words.next(word);) {
    if (field_of(word) != field || word.size() < field.size() + 2 || word.size() > field.size() + 13)
      continue;
    std::uint64_t value = 0;
    for (std::size_t i = field.size() + 1; i < word.size(); ++i) {
      if (word[i] < '0' || word[i] > '9') return 0;
      value = value * 10 + static_cast<std::uint64_t>(word[i] - '0');
    }
    return value;
  }
  return 0;
}

}  // namespace lehr::runtime
