// Messages between parent and worker: a length of 4 bytes and a tag of 8, both little-endian, then that many
// bytes of JSON.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include "measure/system/process.h"

namespace lehr {

/// Longest message. A longer one is refused: it can only be garbage that a candidate wrote.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

struct Message {
  std::string text;
  /// A reply has its request's tag, which nobody else knows: so text that a candidate writes into the
  /// connection is recognized.
  std::uint64_t tag = 0;
};

/// Returns false if the other side is gone. Raises no SIGPIPE.
bool send_message(int fd, const Message& message);

enum class Received { kMessage, kClosed, kTimedOut, kGivenUp, kGarbage };
/// Waits without limit.
Received receive_message(int fd, Message& message);
/// Waits with a Patience (measure/system/patience.h). Sets `message` only with kMessage.
Received receive_message(int fd, Deadline deadline, const std::atomic<bool>* stop, Message& message);

}  // namespace lehr
