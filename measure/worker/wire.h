// Messages between parent and worker: a length of 4 bytes and a tag of 8, the least first, then that many
// bytes of JSON.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "measure/system/process.h"

namespace lehr {

/// Longer ones are refused: they can only be garbage that a candidate wrote.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

struct Message {
  std::string text;
  /// A reply has its request's, which nobody else knows: what a candidate writes into the connection is told
  /// by it.
  std::uint64_t tag = 0;
};

/// False when the other side is gone. Raises no SIGPIPE.
bool send_message(int fd, const Message& message);

enum class Received { kMessage, kClosed, kTimedOut, kGivenUp, kGarbage };
/// Waits for ever.
Received receive_message(int fd, Message& message);
/// Waits with a Patience (measure/system/patience.h). `message` is set only for kMessage.
Received receive_message(int fd, Deadline deadline, const std::atomic<bool>* stop, Message& message);

}  // namespace lehr
