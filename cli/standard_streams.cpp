#include "cli/standard_streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cli/environment.h"
#include "measure/core/format.h"

namespace lehr {

void keep_standard_streams() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number, which is this one. Except for stderr, /dev/null is opened for
    // reading only, so that writing still fails.
    const int opened = open("/dev/null", descriptor == STDERR_FILENO ? O_WRONLY : O_RDONLY);
    if (opened != descriptor && opened >= 0) close(opened);
  }
}

std::string why_unwritten() {
  errno = 0;
  const bool failed = std::fflush(stdout) != 0 || std::ferror(stdout) != 0;
  if (!failed) return "";
  const int error = errno;
  return std::string("what it prints cannot be written to stdout") +
         (error != 0 ? std::string(": ") + std::strerror(error) : "");
}

bool nobody_reads() {
  pollfd out = {STDOUT_FILENO, POLLOUT, 0};
  return poll(&out, 1, 0) == 1 && (out.revents & (POLLERR | POLLHUP)) != 0;
}

std::string toned(const std::string& line) {
  constexpr std::string_view kName = "lehr:";
  if (!takes_colour(stderr)) return line;
  if (line.starts_with("note:")) return painted(kDim, line);
  if (!line.starts_with(kName)) return line;
  return painted(kRed, std::string(kName)) + line.substr(kName.size());
}

void write_to_stderr(const std::string& text) {
  std::fputs(text.c_str(), stderr);
  std::fflush(stderr);
}

void print_json(const nlohmann::json& document) {
  fmt::print("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace lehr
