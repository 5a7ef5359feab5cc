// Whole messages over a stream, with deadlines and EINTR handled.
#include "measure/worker/wire.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/error.h"

namespace lehr {
namespace {

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

Received receive_all(int fd, std::optional<Deadline> deadline, char* bytes, std::size_t count) {
  while (count > 0) {
    pollfd wanted = {fd, POLLIN, 0};
    const int ready = poll(&wanted, 1, deadline ? milliseconds_left(*deadline) : -1);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) return Received::kTimedOut;
    const ssize_t got = ::read(fd, bytes, count);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return Received::kClosed;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return Received::kMessage;
}

}  // namespace

bool send_message(int fd, const std::string& text) {
  CHECK(text.size() <= kMaxMessageBytes, "message of {} bytes", text.size());
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string framed;
  framed.reserve(text.size() + 4);
  for (int shift = 0; shift < 32; shift += 8) framed.push_back(static_cast<char>(length >> shift & 0xFF));
  framed += text;
  return send_all(fd, framed.data(), framed.size());
}

Received receive_message(int fd, std::optional<Deadline> deadline, std::string& text) {
  unsigned char header[4];
  Received result = receive_all(fd, deadline, reinterpret_cast<char*>(header), sizeof header);
  if (result != Received::kMessage) return result;
  std::size_t length = 0;
  for (int i = 3; i >= 0; --i) length = length << 8 | header[i];
  if (length > kMaxMessageBytes) return Received::kGarbage;
  std::string body(length, '\0');
  result = receive_all(fd, deadline, body.data(), length);
  if (result == Received::kMessage) text = std::move(body);
  return result;
}

}  // namespace lehr
