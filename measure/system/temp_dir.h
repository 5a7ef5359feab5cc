// A private directory for files that must not outlive their owner.
#pragma once

#include <string>

namespace lehr {

/// Removed with all its contents at destruction. What a killed process left behind is removed by the next one
/// that makes a directory in the same place (each directory holds a file that its owner keeps locked).
class TempDir {
 public:
  /// `base` "": /dev/shm where it is writable, not mounted noexec and has 256 MiB free, else /tmp. Throws
  /// Error(kEnvironment) when it cannot be made.
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

/// Throws Error(kEnvironment): a sentence that `path` could not be written because of `error_number` (ENOSPC:
/// how much is free, and what to do).
[[noreturn]] void throw_write_error(const std::string& path, int error_number);

}  // namespace lehr
