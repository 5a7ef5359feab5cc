// Uses mkdtemp, an flock that marks a directory as used, and a sweep that removes what dead processes have
// left.
#include "measure/system/temp_dir.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <filesystem>

#include "base/error.h"

namespace lehr {
namespace {

namespace fs = std::filesystem;
constexpr const char* kPrefix = "lehr-";
constexpr const char* kLockName = "in-use";
/// Prefix of a directory whose lock is not held yet.
constexpr const char* kNewPrefix = ".lehr-";

std::uint64_t free_bytes(const std::string& path) {
  struct statvfs facts{};
  if (statvfs(path.c_str(), &facts) != 0) return 0;
  return static_cast<std::uint64_t>(facts.f_bavail) * facts.f_frsize;
}

/// Whether loading a shared object from there would fail. Docker mounts /dev/shm like that.
bool forbids_execution(const std::string& path) {
  struct statvfs facts{};
  return statvfs(path.c_str(), &facts) == 0 && (facts.f_flag & ST_NOEXEC) != 0;
}

std::string default_base() {
  constexpr std::uint64_t kEnough = 256 << 20;
  const char* shared_memory = "/dev/shm";
  if (access(shared_memory, W_OK | X_OK) == 0 && !forbids_execution(shared_memory) &&
      free_bytes(shared_memory) >= kEnough)
    return shared_memory;
  return "/tmp";
}

/// Removes, as far as possible, directories of ours that no process locks, and directories with kNewPrefix
/// that are older than a minute.
void sweep(const std::string& base) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(base, ignored)) {
    const std::string name = entry.path().filename().string();
    const auto is_ours = [&](const char* prefix) {
      return name.rfind(prefix, 0) == 0 && name.size() == std::strlen(prefix) + 6;
    };
    if (!is_ours(kPrefix) && !is_ours(kNewPrefix)) continue;
    struct stat facts{};
    if (lstat(entry.path().c_str(), &facts) != 0 || !S_ISDIR(facts.st_mode)) continue;
    if (facts.st_uid != geteuid()) continue;
    if (is_ours(kNewPrefix) && std::time(nullptr) - facts.st_mtime < 60) continue;
    const int lock = open((entry.path() / kLockName).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (lock < 0) continue;
    if (flock(lock, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
    close(lock);
  }
}

}  // namespace

TempDir::TempDir(const std::string& base) {
  const std::string parent = base.empty() ? default_base() : base;
  sweep(parent);
  std::string made = parent + "/" + kNewPrefix + "XXXXXX";
  if (mkdtemp(made.data()) == nullptr) {
    throw_environment(
        "cannot make a temporary directory in {}: {}; name a writable one with --scratch or TMPDIR", parent,
        std::strerror(errno));
  }
  // The directory gets its final name only once its lock is held. So a directory with such a name whose file
  // is not locked was left by a dead process.
  path_ = parent + "/" + kPrefix + made.substr(made.size() - 6);
  const std::string lock_path = made + "/" + kLockName;
  lock_ = open(lock_path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0600);
  if (lock_ < 0 || flock(lock_, LOCK_SH) != 0 || std::rename(made.c_str(), path_.c_str()) != 0) {
    const int error_number = errno;
    if (lock_ >= 0) close(lock_);
    std::error_code ignored;
    fs::remove_all(made, ignored);
    throw_write_error(lock_path, error_number);
  }
}

bool TempDir::allows_execution() const {
  return !forbids_execution(path_);
}

TempDir::~TempDir() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
  close(lock_);
}

void throw_write_error(const std::string& path, int error_number) {
  const std::string folder = fs::path(path).parent_path().string();
  if (error_number == ENOSPC || error_number == EDQUOT) {
    throw_environment(
        "no space left on {} ({} MiB free): free some or choose another directory for temporary files",
        folder, free_bytes(folder) >> 20);
  }
  throw_environment("cannot write {}: {}", path, std::strerror(error_number));
}

}  // namespace lehr
