// SHA-256 (FIPS 180-4): whether a file is the one that was exported.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace lehr::runtime {

class Sha256 {
 public:
  void add(const void* bytes, std::size_t count);
  /// Of all that was added, as 64 lower-case hexadecimal digits and a 0. Call it once, at the end.
  std::array<char, 65> hex();

 private:
  void block(const unsigned char* bytes);

  std::array<std::uint32_t, 8> state_ = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                         0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
  std::array<unsigned char, 64> rest_{};
  std::uint64_t bytes_ = 0;
};

}  // namespace lehr::runtime
