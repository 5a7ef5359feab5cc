#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>

namespace lehr::test {
namespace {

constexpr std::size_t kMostBytes = 20000;  // as scripts/fuzz allows
constexpr std::size_t kLongestPiece = 64;
const std::array<std::string, 12> kNumbers = {"0",
                                              "-1",
                                              "1e308",
                                              "-0",
                                              "9223372036854775807",
                                              "-9223372036854775808",
                                              "18446744073709551616",
                                              "1e-320",
                                              "nan",
                                              "1e999",
                                              "null",
                                              "[]"};

std::string piece_of(const std::string& text, Rng& rng) {
  if (text.empty()) return {};
  const std::size_t at = rng.below(text.size());
  return text.substr(at, 1 + rng.below(kLongestPiece));
}

void change(std::string& text, const std::vector<std::string>& seeds, Rng& rng) {
  const std::size_t at = rng.below(text.size() + 1);
  if (at == text.size()) {
    text += piece_of(text, rng);
    return;
  }
  const std::size_t length = 1 + rng.below(std::min(kLongestPiece, text.size() - at));
  switch (rng.below(8)) {
    case 0:
      text[at] = static_cast<char>(rng.below(256));
      break;
    case 1:
      text[at] = static_cast<char>(text[at] ^ 1 << rng.below(8));
      break;
    case 2:
      text.insert(at, 1, static_cast<char>(rng.below(256)));
      break;
    case 3:
      text.erase(at, length);
      break;
    case 4:
      text.insert(at, piece_of(text, rng));
      break;
    case 5:
      text.insert(at, piece_of(seeds[rng.below(seeds.size())], rng));
      break;
    case 6: {  // changes a number, if there is one
      const std::size_t begin = std::min(text.find_first_of("0123456789", at), text.size());
      const std::size_t end = std::min(text.find_first_not_of("0123456789.e", begin), text.size());
      text.replace(begin, end - begin, kNumbers[rng.below(kNumbers.size())]);
      break;
    }
    default:
      text.replace(at, length, length, static_cast<char>(rng.below(2) * 0xff));
  }
}

}  // namespace

std::string mutated(const std::vector<std::string>& seeds, Rng& rng) {
  std::string text = seeds[rng.below(seeds.size())];
  if (rng.below(8) == 0) text.resize(rng.below(text.size() + 1));
  for (std::uint64_t count = 1 + rng.below(8); count > 0; --count) change(text, seeds, rng);
  text.resize(std::min(text.size(), kMostBytes));
  return text;
}

}  // namespace lehr::test
