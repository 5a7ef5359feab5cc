// Writes a file whole or not at all.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.h"
#include "deploy/bundle_json.h"

namespace lehr {

void write_atomically(const std::string& path, const std::string& text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, getpid());
  const auto give_up = [&](const char* step) {
    const int error = errno;
    unlink(temporary.c_str());
    throw_environment("{} cannot be {}: {}", path, step, std::strerror(error));
  };
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
  if (file < 0) give_up("created");
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t count = write(file, text.data() + written, text.size() - written);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) {
      const int error = errno;
      close(file);
      errno = error;
      give_up("written");
    }
    written += static_cast<std::size_t>(count);
  }
  const bool flushed = fsync(file) == 0;
  if (close(file) != 0 || !flushed) give_up("flushed to disk");
  if (std::rename(temporary.c_str(), path.c_str()) != 0) give_up("replaced");
}

}  // namespace lehr
