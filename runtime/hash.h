// A hash of texts and numbers, for tables and comparisons (FNV-1a, 64 bits). It protects against nothing.
#pragma once

#include <cstdint>
#include <string_view>

namespace lehr::runtime {

class Hash {
 public:
  Hash& add(std::uint64_t number) {
    for (int byte = 0; byte < 8; ++byte) value_ = (value_ ^ (number >> 8 * byte & 0xff)) * 0x100000001b3;
    return *this;
  }
  Hash& add(std::string_view text) {
    for (const char c : text) value_ = (value_ ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return add(std::uint64_t{text.size()});
  }
  std::uint64_t value() const { return value_ ^ value_ >> 32; }

 private:
  std::uint64_t value_ = 0xcbf29ce484222325;
};

}  // namespace lehr::runtime
