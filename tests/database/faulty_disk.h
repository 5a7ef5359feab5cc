// A disk that fails: SQLite's files with errors at a chosen operation, and without power from a chosen
// operation on.
#pragma once

#include <cstdint>
#include <memory>

#include "base/rng.h"

namespace lehr::test {

/// While a FaultyDisk lives, every database that is opened lies on it. It counts the operations that change a
/// file: write, truncate, sync, delete. Nothing is really synced, so drills are quick.
class FaultyDisk {
 public:
  FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  ~FaultyDisk();

  enum class Fault {
    kIoError,   ///< EIO, once
    kNoSpace,   ///< ENOSPC, for this and all later writes
    kPowerCut,  ///< this and all later operations fail, and what was not synced is lost
  };
  /// Arms a fault for the k-th operation from now on, counted from 1.
  void fail_at(std::int64_t k, Fault fault);
  /// True if the armed fault has struck.
  bool struck() const;
  /// Disarms it.
  void heal();
  /// Makes the files what a disk may hold after a power cut, when every database is closed, and heals. Each
  /// write after a file's last sync is there, or not, or only in its first sectors, by `rng`.
  void restart(Rng& rng);

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace lehr::test
