#include "network/protobuf.h"

#include <bit>
#include <cstring>

#include "base/error.h"

namespace lehr {
namespace {

std::uint64_t take_number(std::string_view& rest) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (rest.empty()) throw_user("ends within a number");
    const auto byte = static_cast<unsigned char>(rest.front());
    rest.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return value;
  }
  throw_user("has a number of more than ten bytes");
}

std::string_view take_bytes(std::string_view& rest, std::uint64_t count) {
  if (count > rest.size()) throw_user("ends within a field");
  const std::string_view taken = rest.substr(0, count);
  rest.remove_prefix(count);
  return taken;
}

template <typename Bits>
Bits bits_of(std::string_view bytes) {
  static_assert(std::endian::native == std::endian::little,
                "numbers are stored with their lowest byte first");
  Bits bits;
  std::memcpy(&bits, bytes.data(), sizeof bits);
  return bits;
}

std::string number_bytes(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  return bytes + static_cast<char>(value);
}

std::string tag(std::uint32_t field, std::uint64_t kind) {
  return number_bytes(std::uint64_t{field} << 3 | kind);
}

}  // namespace

std::string number_field(std::uint32_t field, std::int64_t value) {
  return tag(field, 0) + number_bytes(static_cast<std::uint64_t>(value));
}

std::string f32_field(std::uint32_t field, float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  std::string bytes = tag(field, 5);
  for (int shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  return bytes;
}

std::string bytes_field(std::uint32_t field, std::string_view bytes) {
  return (tag(field, 2) + number_bytes(bytes.size())).append(bytes);
}

bool Wire::next() {
  if (rest_.empty()) return false;
  const std::string_view before = rest_;
  const std::uint64_t tag = take_number(rest_);
  if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff) throw_user("has a field of an impossible number");
  field_ = static_cast<std::uint32_t>(tag >> 3);
  switch (tag & 7) {
    case 0:
      kind_ = Kind::kNumber;
      number_ = take_number(rest_);
      break;
    case 1:
      kind_ = Kind::kBits64;
      number_ = bits_of<std::uint64_t>(take_bytes(rest_, 8));
      break;
    case 2:
      kind_ = Kind::kBytes;
      bytes_ = take_bytes(rest_, take_number(rest_));
      break;
    case 5:
      kind_ = Kind::kBits32;
      number_ = bits_of<std::uint32_t>(take_bytes(rest_, 4));
      break;
    default:
      throw_user("has a field of an unknown kind");
  }
  record_ = before.substr(0, before.size() - rest_.size());
  return true;
}

std::uint64_t Wire::number() const {
  if (kind_ != Kind::kNumber) throw_user("has a field {} that is no whole number", field_);
  return number_;
}

float Wire::f32() const {
  if (kind_ != Kind::kBits32) throw_user("has a field {} that is no f32", field_);
  return std::bit_cast<float>(static_cast<std::uint32_t>(number_));
}

std::string_view Wire::bytes() const {
  if (kind_ != Kind::kBytes) throw_user("has a field {} that is neither text nor a message", field_);
  return bytes_;
}

void Wire::append_to(std::vector<std::int64_t>& values) const {
  if (kind_ != Kind::kBytes) return values.push_back(whole());
  for (std::string_view packed = bytes_; !packed.empty();)
    values.push_back(static_cast<std::int64_t>(take_number(packed)));
}

void Wire::append_to(std::vector<float>& values) const {
  if (kind_ != Kind::kBytes) return values.push_back(f32());
  for (std::string_view packed = bytes_; !packed.empty();)
    values.push_back(bits_of<float>(take_bytes(packed, sizeof(float))));
}

}  // namespace lehr
