// Writes a temporary file next to the target, and replaces the target by a rename.
#include "base/file_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>
#include <system_error>

#include "base/error.h"

namespace lehr {
namespace {

[[noreturn]] void give_up(const std::string& path, const char* step, int error) {
  throw_environment("{} cannot be {}: {}", path, step, std::strerror(error));
}

/// Returns the path to which a name leads through links, whether anything exists there or not.
std::string behind_links(const std::string& path) {
  constexpr int kMostLinks = 40;  // as Linux
  std::filesystem::path place = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(place, error); ++links) {
    if (links == kMostLinks) give_up(path, "followed", ELOOP);
    const std::filesystem::path next = std::filesystem::read_symlink(place, error);
    if (error) give_up(path, "followed", error.value());
    place = next.is_absolute() ? next : place.parent_path() / next;
  }
  return place.string();
}

/// Writes all bytes. Returns 0, or errno.
int write_all(int file, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return errno;
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return 0;
}

void write_through(const std::string& path, std::string_view bytes) {
  // Without O_NONBLOCK opening a pipe that nobody reads would wait for ever.
  const int file = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC);
  if (file < 0 && errno == ENXIO) throw_environment("{} cannot be written: nobody reads this pipe", path);
  if (file < 0) give_up(path, "opened", errno);
  fcntl(file, F_SETFL, fcntl(file, F_GETFL) & ~O_NONBLOCK);
  const int error = write_all(file, bytes);
  const int closed = close(file) == 0 ? 0 : errno;
  if (error != 0 || closed != 0) give_up(path, "written", error != 0 ? error : closed);
}

}  // namespace

void write_file(const std::string& path, std::string_view bytes) {
  const std::string place = behind_links(path);
  struct stat old = {};
  const bool exists = stat(place.c_str(), &old) == 0;
  if (exists && (S_ISFIFO(old.st_mode) || S_ISCHR(old.st_mode))) return write_through(place, bytes);
  if (exists && !S_ISREG(old.st_mode))
    throw_environment("{} cannot be replaced: it is {}, and no file", path,
                      S_ISDIR(old.st_mode) ? "a folder" : "a device or a socket");
  // In a container the process has the same id each time, and a killed one may have left its file.
  const std::string temporary = fmt::format("{}.{}.{:08x}.tmp", place, getpid(), std::random_device()());
  const auto undo = [&](const char* step, int error) {
    unlink(temporary.c_str());
    give_up(path, step, error);
  };
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) give_up(path, "created", errno);
  int error = exists && fchmod(file, old.st_mode & 07777) != 0 ? errno : 0;
  if (error == 0) error = write_all(file, bytes);
  if (fsync(file) != 0 && error == 0) error = errno;
  if (close(file) != 0 && error == 0) error = errno;
  if (error != 0) undo("written", error);
  if (std::rename(temporary.c_str(), place.c_str()) != 0) undo("replaced", errno);
}

}  // namespace lehr
