// Words of a text, separated by spaces.
#pragma once

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

}  // namespace lehr::runtime
