// A private directory for files that must not outlive their owner.
#pragma once

#include <string>

namespace lehr {

/// The destructor removes the directory with all its contents. If a killed process has left a directory, the
/// next process that makes a directory in the same folder removes it (each directory has a file that its
/// owner keeps locked).
class TempDir {
 public:
  /// Makes the directory in `base`. "": /dev/shm if it is writable, not mounted noexec and has 256 MiB free,
  /// else /tmp. Throws Error(kEnvironment) if it cannot be made.
  explicit TempDir(const std::string& base = "");
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  const std::string& path() const { return path_; }
  /// False on a file system that is mounted noexec: shared objects cannot be loaded from there.
  bool allows_execution() const;

 private:
  std::string path_;
  int lock_ = -1;
};

/// Throws Error(kEnvironment) with a sentence that says why `path` could not be written. `error_number` is
/// the cause; for ENOSPC the sentence says how much space is free, and what to do.
[[noreturn]] void throw_write_error(const std::string& path, int error_number);

}  // namespace lehr
