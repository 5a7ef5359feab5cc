#include "runtime/json.h"

#include <cstring>

namespace lehr::runtime {

/// A cursor over the text. Each function returns false with `error` set.
class JsonReader {
 public:
  JsonReader(char* text, std::size_t size, Array<JsonNode>& nodes)
      : at_(text), end_(text + size), nodes_(nodes) {}

  const char* error = nullptr;

  bool document() {
    if (!value({}, 0)) return false;
    space();
    return at_ == end_ || wrong("there is text behind the document");
  }

 private:
  bool wrong(const char* what) {
    error = what;
    return false;
  }

  void space() {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\r' || *at_ == '\t')) ++at_;
  }

  bool word(std::string_view expected) {
    if (static_cast<std::size_t>(end_ - at_) < expected.size() ||
        std::memcmp(at_, expected.data(), expected.size()) != 0)
      return wrong("a value is none of JSON's");
    at_ += expected.size();
    return true;
  }

  bool value(std::string_view key, int depth) {
    if (depth > Json::kMostDepth) return wrong("it is nested too deeply");
    space();
    if (at_ == end_) return wrong("it ends too early");
    const std::size_t index = nodes_.size();
    if (!nodes_.add({JsonKind::kNull, key, {}, 0})) return wrong("there is no memory for it");
    if (!rest_of_value(index, depth)) return false;
    nodes_[index].next = static_cast<std::uint32_t>(nodes_.size());
    return true;
  }

  bool rest_of_value(std::size_t index, int depth) {
    switch (*at_) {
      case '{':
        return set(index, JsonKind::kObject) && members('}', depth);
      case '[':
        return set(index, JsonKind::kArray) && members(']', depth);
      case '"': {
        std::string_view text;
        if (!string(text)) return false;
        nodes_[index].text = text;
        return set(index, JsonKind::kString);
      }
      case 'n':
        return set(index, JsonKind::kNull) && word("null");
      case 't':
        return set(index, JsonKind::kTrue) && word("true");
      case 'f':
        return set(index, JsonKind::kFalse) && word("false");
      default:
        return set(index, JsonKind::kNumber) && number(nodes_[index].text);
    }
  }

  bool set(std::size_t index, JsonKind kind) {
    nodes_[index].kind = kind;
    return true;
  }

  // Behind '{' or '[', up to `closing`.
  bool members(char closing, int depth) {
    ++at_;
    space();
    if (at_ != end_ && *at_ == closing) return ++at_, true;
    for (;;) {
      std::string_view key;
      if (closing == '}') {
        space();
        if (at_ == end_ || *at_ != '"') return wrong("a member has no name");
        if (!string(key)) return false;
        space();
        if (at_ == end_ || *at_ != ':') return wrong("a member's name has no colon behind it");
        ++at_;
      }
      if (!value(key, depth + 1)) return false;
      space();
      if (at_ == end_) return wrong("it ends too early");
      if (*at_ == closing) return ++at_, true;
      if (*at_ != ',') return wrong("a comma is missing");
      ++at_;
    }
  }

  // The text shrinks in place; the closing quote becomes the 0.
  bool string(std::string_view& text) {
    char* const begin = ++at_;
    char* to = begin;
    for (;; ++to) {
      if (at_ == end_) return wrong("a string has no end");
      if (*at_ == '"') break;
      if (static_cast<unsigned char>(*at_) < 0x20) return wrong("a string has a control character");
      if (*at_ != '\\') {
        *to = *at_++;
        continue;
      }
      ++at_;
      if (!escape(*to)) return false;
    }
    ++at_;
    *to = '\0';
    text = {begin, static_cast<std::size_t>(to - begin)};
    return true;
  }

  // What the writer of a manifest writes: everything but \u above 0x7f, which it has as UTF-8.
  bool escape(char& to) {
    if (at_ == end_) return wrong("a string has no end");
    constexpr std::string_view kFrom = "\"\\/bfnrt", kTo = "\"\\/\b\f\n\r\t";
    for (std::size_t i = 0; i < kFrom.size(); ++i) {
      if (*at_ != kFrom[i]) continue;
      ++at_;
      to = kTo[i];
      return true;
    }
    if (*at_ != 'u' || end_ - at_ < 5) return wrong("a string has an unknown escape");
    unsigned code = 0;
    for (int i = 1; i <= 4; ++i) {
      const char digit = at_[i];
      const bool decimal = digit >= '0' && digit <= '9', letter = (digit | 32) >= 'a' && (digit | 32) <= 'f';
      if (!decimal && !letter) return wrong("a string has an unknown escape");
      code = code * 16 + static_cast<unsigned>(decimal ? digit - '0' : (digit | 32) - 'a' + 10);
    }
    if (code == 0 || code > 0x7f) return wrong("a string has an escape that is not ASCII");
    at_ += 5;
    to = static_cast<char>(code);
    return true;
  }

  bool digits() {
    const char* const begin = at_;
    while (at_ != end_ && *at_ >= '0' && *at_ <= '9') ++at_;
    return at_ != begin || wrong("a value is none of JSON's");
  }

  bool number(std::string_view& text) {
    const char* const begin = at_;
    if (*at_ == '-') ++at_;
    if (!digits()) return false;
    if (at_ != end_ && *at_ == '.') {
      ++at_;
      if (!digits()) return false;
    }
    if (at_ != end_ && (*at_ == 'e' || *at_ == 'E')) {
      ++at_;
      if (at_ != end_ && (*at_ == '+' || *at_ == '-')) ++at_;
      if (!digits()) return false;
    }
    text = {begin, static_cast<std::size_t>(at_ - begin)};
    return true;
  }

  char* at_;
  char* const end_;
  Array<JsonNode>& nodes_;
};

const char* Json::read(char* text, std::size_t size) {
  if (size > kMostBytes) return "it has more than 16 MiB";
  JsonReader reader(text, size, nodes_);
  return reader.document() ? nullptr : reader.error;
}

std::uint32_t Json::first(std::uint32_t parent) const {
  if (parent == kNone) return kNone;
  const bool has_values = nodes_[parent].kind == JsonKind::kArray || nodes_[parent].kind == JsonKind::kObject;
  return has_values && nodes_[parent].next > parent + 1 ? parent + 1 : kNone;
}

std::uint32_t Json::after(std::uint32_t parent, std::uint32_t child) const {
  return nodes_[child].next < nodes_[parent].next ? nodes_[child].next : kNone;
}

std::uint32_t Json::member(std::uint32_t object, std::string_view key) const {
  if (object == kNone || nodes_[object].kind != JsonKind::kObject) return kNone;
  for (std::uint32_t child = first(object); child != kNone; child = after(object, child))
    if (nodes_[child].key == key) return child;
  return kNone;
}

bool Json::string(std::uint32_t index, std::string_view& value) const {
  if (index == kNone || nodes_[index].kind != JsonKind::kString) return false;
  value = nodes_[index].text;
  return true;
}

bool Json::whole(std::uint32_t index, std::uint64_t& value) const {
  if (index == kNone || nodes_[index].kind != JsonKind::kNumber || nodes_[index].text.size() > 16)
    return false;
  value = 0;
  for (const char digit : nodes_[index].text) {
    if (digit < '0' || digit > '9') return false;
    value = value * 10 + static_cast<std::uint64_t>(digit - '0');
  }
  return value <= std::uint64_t{1} << 53;
}

// To 15 digits, in no locale: strtod() would ask for the program's.
bool Json::number(std::uint32_t index, double& value) const {
  if (index == kNone || nodes_[index].kind != JsonKind::kNumber) return false;
  const std::string_view text = nodes_[index].text;
  std::size_t i = text[0] == '-' ? 1 : 0;
  double digits = 0;
  int exponent = 0;
  bool behind_point = false;
  for (; i < text.size() && (text[i] | 32) != 'e'; ++i) {
    if (text[i] == '.') {
      behind_point = true;
    } else if (digits < 1e17) {
      digits = digits * 10 + (text[i] - '0');
      exponent -= behind_point;
    } else {
      exponent += !behind_point;
    }
  }
  if (i < text.size()) {
    const bool negative = text[i + 1] == '-';
    int stated = 0;
    for (i += text[i + 1] == '-' || text[i + 1] == '+' ? 2 : 1; i < text.size(); ++i)
      if (stated < 10000) stated = stated * 10 + (text[i] - '0');
    exponent += negative ? -stated : stated;
  }
  for (; exponent > 0 && digits != 0 && digits < 1e308; --exponent) digits *= 10;
  for (; exponent < 0 && digits > 1e-308; ++exponent) digits /= 10;
  value = text[0] == '-' ? -digits : digits;
  return value >= -1e308 && value <= 1e308;
}

bool Json::boolean(std::uint32_t index, bool& value) const {
  if (index == kNone) return false;
  const JsonKind kind = nodes_[index].kind;
  value = kind == JsonKind::kTrue;
  return kind == JsonKind::kTrue || kind == JsonKind::kFalse;
}

}  // namespace lehr::runtime
