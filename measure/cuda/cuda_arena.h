// Pieces of device memory in one allocation, between guards, so that writes outside of them are found.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/cuda/cuda_driver.h"

namespace lehr {

/// One or several sets of the same pieces.
class CudaArena {
 public:
  /// Each piece of each set begins at a multiple of this many bytes.
  static constexpr std::int64_t kAlignment = 256;

  /// Allocates `sets` of pieces of `bytes` each, and fills all of it, guards included, with guard bytes.
  /// Frees what an earlier call allocated. `driver` must outlive this object.
  CudaStatus place(const CudaDriver& driver, std::vector<std::int64_t> bytes, std::int64_t sets);

  std::size_t count() const { return offsets_.size(); }
  std::int64_t bytes(std::size_t piece) const { return bytes_[piece]; }
  /// Returns the bytes of one set, guards included.
  std::int64_t set_bytes() const { return set_bytes_; }
  CudaAddress address(std::size_t piece, std::int64_t set) const;
  CudaAddress begin() const { return memory_.address(); }

  CudaStatus fill(std::size_t piece, std::int64_t set, unsigned char value) const;
  CudaStatus write(std::size_t piece, std::int64_t set, const void* from) const;
  CudaStatus read(std::size_t piece, std::int64_t set, void* to) const;
  /// Copy `count` bytes from offset `at` of a piece of set 0, which may be in the guards around it.
  CudaStatus poke(std::size_t piece, std::int64_t at, const void* from, std::int64_t count) const;
  CudaStatus peek(std::size_t piece, std::int64_t at, void* to, std::int64_t count) const;

  /// A write outside of a piece of set 0.
  struct Damage {
    std::size_t piece = 0;
    std::int64_t distance = 0;  ///< bytes from the piece's end or begin to the overwritten one
    bool behind = false;        ///< whether it is after the piece's end; if false, before its begin
  };
  CudaStatus find_damage(std::optional<Damage>& damage) const;

 private:
  std::int64_t place_of(std::size_t piece, std::int64_t set) const {
    return set * set_bytes_ + offsets_[piece];
  }

  CudaMemory memory_;
  std::vector<std::int64_t> offsets_;  ///< within a set
  std::vector<std::int64_t> bytes_;
  std::int64_t set_bytes_ = 0;
};

}  // namespace lehr
