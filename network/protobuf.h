// Reads and writes the wire format of protocol buffers (https://protobuf.dev/programming-guides/encoding/)
// field by field: the format of ONNX files. A reader copies nothing and trusts nothing: a length that exceeds
// its container ends the reading.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lehr {

/// The fields of one message, in the order in which they were written. Throws Error(kUser), as the end of a
/// sentence ("ends within a field"), if the bytes are not a message.
class Wire {
 public:
  explicit Wire(std::string_view message) : rest_(message) {}

  /// Goes to the next field; returns false after the last one.
  bool next();
  /// Returns the field's number.
  std::uint32_t field() const { return field_; }

  // Return the field's value; each throws if it is of another kind.
  std::uint64_t number() const;
  std::int64_t whole() const { return static_cast<std::int64_t>(number()); }
  float f32() const;
  std::string_view bytes() const;
  /// Returns the field with its number, as it stands in the message.
  std::string_view record() const { return record_; }

  // Append the values of a repeated field. A field holds one value or, packed, any number.
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

// Return fields as bytes. A sequence of them is a message.
std::string number_field(std::uint32_t field, std::int64_t value);
std::string f32_field(std::uint32_t field, float value);
/// Writes text, a message, or packed numbers.
std::string bytes_field(std::uint32_t field, std::string_view bytes);

}  // namespace lehr
