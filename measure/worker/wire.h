// Messages between parent and worker: a 4-byte little-endian length, then that many bytes of JSON.
#pragma once

#include <optional>
#include <string>

#include "measure/system/process.h"

namespace lehr {

/// Longer ones are refused: they can only be garbage that a candidate wrote.
inline constexpr std::size_t kMaxMessageBytes = std::size_t{64} << 20;

/// False when the other side is gone. Raises no SIGPIPE.
bool send_message(int fd, const std::string& text);

enum class Received { kMessage, kClosed, kTimedOut, kGarbage };
/// Waits until `deadline` (nullopt: for ever). `text` is set only for kMessage.
Received receive_message(int fd, std::optional<Deadline> deadline, std::string& text);

}  // namespace lehr
