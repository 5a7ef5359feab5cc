#include "base/encode.h"

namespace lehr {

std::string html_escaped(std::string_view text) {
  constexpr std::string_view kSpecial = "&<>\"", kNames[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
  std::string out;
  for (const char c : text)
    if (const std::size_t at = kSpecial.find(c); at != std::string_view::npos)
      out += kNames[at];
    else
      out += c;
  return out;
}

std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out;
  unsigned bits = 0, count = 0;
  for (const char digit : hex) {
    bits = bits << 4 | static_cast<unsigned>(kHex.find(digit));
    count += 4;
    if (count >= 6) out += kDigits[bits >> (count -= 6) & 63];
  }
  if (count > 0) out += kDigits[bits << (6 - count) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace lehr
