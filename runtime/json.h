// Reads a JSON document (RFC 8259) of any origin: in time and memory that grow with its size alone.
#pragma once

#include <cstdint>
#include <string_view>

#include "runtime/memory.h"

namespace lehr::runtime {

enum class JsonKind : std::uint8_t { kNull, kFalse, kTrue, kNumber, kString, kArray, kObject };

/// One value. The values of a document lie in the order of its text, those within an array or object behind
/// it.
struct JsonNode {
  JsonKind kind = JsonKind::kNull;
  std::string_view key;  ///< where it is a member of an object
  std::string_view
      text;  ///< a string's characters, without escapes and with a 0 behind them; a number's digits
  std::uint32_t next = 0;  ///< index of the value behind it and behind all within it
};

/// A document, and questions to its values by index. 0 is the whole document.
class Json {
 public:
  static constexpr std::uint32_t kNone = static_cast<std::uint32_t>(-1);
  static constexpr int kMostDepth = 32;
  static constexpr std::size_t kMostBytes = 16u << 20;

  /// Reads `text`, which it changes: escapes are replaced in place. nullptr, or what is wrong with it. The
  /// text has to live as long as the document.
  const char* read(char* text, std::size_t size);

  const JsonNode& operator[](std::uint32_t index) const { return nodes_[index]; }
  /// The member of that name; kNone where `object` is kNone, is no object, or has none. Of several the first.
  std::uint32_t member(std::uint32_t object, std::string_view key) const;
  /// The first value within an array or object, and the one behind another; kNone at the end.
  std::uint32_t first(std::uint32_t parent) const;
  std::uint32_t after(std::uint32_t parent, std::uint32_t child) const;

  /// False where there is none of that kind. Whole numbers from 0 to 2^53.
  bool string(std::uint32_t index, std::string_view& value) const;
  bool whole(std::uint32_t index, std::uint64_t& value) const;
  bool number(std::uint32_t index, double& value) const;
  bool boolean(std::uint32_t index, bool& value) const;

 private:
  friend class JsonReader;
  Array<JsonNode> nodes_;
};

}  // namespace lehr::runtime
