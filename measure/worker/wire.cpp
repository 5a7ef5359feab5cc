// Sends and receives whole messages over a stream, with deadlines and EINTR handled.
#include "measure/worker/wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <functional>

#include "base/error.h"
#include "measure/system/patience.h"

namespace lehr {
namespace {

constexpr std::size_t kHeaderBytes = 4 + 8;

bool send_all(int fd, const char* bytes, std::size_t count) {
  while (count > 0) {
    ssize_t sent = send(fd, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == ENOTSOCK) sent = ::write(fd, bytes, count);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

void append(std::string& bytes, std::uint64_t number, int count) {
  for (int i = 0; i < count; ++i) bytes.push_back(static_cast<char>(number >> 8 * i & 0xFF));
}

std::uint64_t number_of(const unsigned char* bytes, int count) {
  std::uint64_t number = 0;
  for (int i = count - 1; i >= 0; --i) number = number << 8 | bytes[i];
  return number;
}

/// Waits until `fd` is readable and returns nullopt, or returns why it stopped waiting.
using Wait = std::function<std::optional<Received>(int fd)>;

Received receive_all(int fd, const Wait& wait, char* bytes, std::size_t count) {
  while (count > 0) {
    if (const std::optional<Received> end = wait(fd)) return *end;
    const ssize_t got = ::read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Received::kClosed;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return Received::kMessage;
}

Received receive_with(int fd, const Wait& wait, Message& message) {
  unsigned char header[kHeaderBytes];
  Received result = receive_all(fd, wait, reinterpret_cast<char*>(header), sizeof header);
  if (result != Received::kMessage) return result;
  const std::size_t length = number_of(header, 4);
  if (length > kMaxMessageBytes) return Received::kGarbage;
  std::string body(length, '\0');
  result = receive_all(fd, wait, body.data(), length);
  if (result == Received::kMessage) message = {std::move(body), number_of(header + 4, 8)};
  return result;
}

}  // namespace

bool send_message(int fd, const Message& message) {
  CHECK(message.text.size() <= kMaxMessageBytes, "message of {} bytes", message.text.size());
  std::string framed;
  framed.reserve(message.text.size() + kHeaderBytes);
  append(framed, message.text.size(), 4);
  append(framed, message.tag, 8);
  framed += message.text;
  return send_all(fd, framed.data(), framed.size());
}

Received receive_message(int fd, Message& message) {
  return receive_with(fd, [](int) { return std::nullopt; }, message);
}

Received receive_message(int fd, Deadline deadline, const std::atomic<bool>* stop, Message& message) {
  const Patience patience(deadline, stop);
  const Wait wait = [&](int one) -> std::optional<Received> {
    while (true) {
      pollfd wanted = {one, POLLIN, 0};
      if (poll(&wanted, 1, patience.poll_ms()) > 0) return std::nullopt;
      if (patience.timed_out()) return Received::kTimedOut;
      if (patience.gives_up()) return Received::kGivenUp;
    }
  };
  return receive_with(fd, wait, message);
}

}  // namespace lehr
