// The wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding/), field by field:
// what an ONNX file is written in. A reader copies nothing, and believes nothing: a length that goes beyond
// what holds it ends the reading.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// The fields of one message, in the order in which they were written. Throws Error(kUser), as the end of a
/// sentence ("ends within a field"), for what is no message.
class Wire {
 public:
  explicit Wire(std::string_view message) : rest_(message) {}

  /// Goes to the next field; false behind the last one.
  bool next();
  /// Its number.
  std::uint32_t field() const { return field_; }

  // Its value; each throws where it is of another kind.
  std::uint64_t number() const;
  std::int64_t whole() const { return static_cast<std::int64_t>(number()); }
  float f32() const;
  std::string_view bytes() const;
  /// The field as it stands in the message, its number with it.
  std::string_view record() const { return record_; }

  // A repeated field's values, of which one field holds one or, packed, any number.
  void append_to(std::vector<std::int64_t>& values) const;
  void append_to(std::vector<float>& values) const;

 private:
  enum class Kind : std::uint8_t { kNumber, kBits64, kBytes, kBits32 };

  std::string_view rest_;
  std::string_view record_;
  std::string_view bytes_;
  std::uint64_t number_ = 0;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::kNumber;
};

// Fields as bytes, which appended to each other are a message.
std::string number_field(std::uint32_t field, std::int64_t value);
std::string f32_field(std::uint32_t field, float value);
/// Text, a message, or packed numbers.
std::string bytes_field(std::uint32_t field, std::string_view bytes);

}  // namespace lehr
