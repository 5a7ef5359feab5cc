// Reads and writes protocol buffers, the format of ONNX files, field by field
// (https://protobuf.dev/programming-guides/encoding/). Reading copies nothing, and a length that exceeds its
// container is an error.
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

  /// Goes to the next field. Returns false after the last field.
  bool next();
  /// Returns the field's number.
  std::uint32_t field() const { return field_; }

  // Return the field's value. Each throws if the field holds another kind of value.
  std::uint64_t number() const;
  std::int64_t whole() const { return static_cast<std::int64_t>(number()); }
  float f32() const;
  std::string_view bytes() const;
  /// Returns the whole field, with its number, as bytes of the message.
  std::string_view record() const { return record_; }

  // Append the values of a repeated field. The field holds a single value or, if it is packed, any number of
  // values.
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

// Return one field as bytes. A message is a sequence of fields.
std::string number_field(std::uint32_t field, std::int64_t value);
std::string f32_field(std::uint32_t field, float value);
/// Returns a field of bytes: text, a message, or packed numbers.
std::string bytes_field(std::uint32_t field, std::string_view bytes);

}  // namespace lehr
