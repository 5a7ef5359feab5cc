// Messages between parent and worker. A message is a length of 4 bytes and a tag of 8 bytes, both
// little-endian, followed by `length` bytes of JSON.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "measure/system/process.h"

namespace lehr {

/// Maximum length of a message. A longer message is refused: it can only be garbage that a candidate wrote.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

struct Message {
  std::string text;
  /// A reply has the tag of its request. Candidates do not know the tag, so text that a candidate writes into
  /// the connection is recognized.
  std::uint64_t tag = 0;
};

/// Sends a message. Returns false if the other side is gone. Raises no SIGPIPE.
bool send_message(int fd, const Message& message);

enum class Received { kMessage, kClosed, kTimedOut, kGivenUp, kGarbage };
/// Receives a message. Waits without limit.
Received receive_message(int fd, Message& message);
/// Receives a message. Waits until `deadline` or `*stop` (Patience, measure/system/patience.h). Sets
/// `message` only if it returns kMessage.
Received receive_message(int fd, Deadline deadline, const std::atomic<bool>* stop, Message& message);

}  // namespace lehr
