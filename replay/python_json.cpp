// Makes one pass over the text: see python_json.h.
#include "replay/python_json.h"

#include <string_view>

namespace lehr {

std::string without_nan(std::string text) {
  if (text.find("NaN") == std::string::npos && text.find("Infinity") == std::string::npos) return text;
  std::string result;
  result.reserve(text.size() + text.size() / 64);
  bool quoted = false;
  for (std::size_t i = 0; i < text.size();) {
    if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      result.append(text, i, 2);
      i += 2;
      continue;
    }
    if (text[i] == '"') quoted = !quoted;
    std::size_t word = 0;
    for (const std::string_view each : {"NaN", "Infinity", "-Infinity"})
      if (!quoted && text.compare(i, each.size(), each) == 0) word = each.size();
    if (word == 0) {
      result += text[i++];
    } else {
      result += "null";
      i += word;
    }
  }
  return result;
}

}  // namespace lehr
