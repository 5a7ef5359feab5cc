// Pieces of device memory in one allocation, with guards between them, so that writes outside of a piece are
// found.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "measure/cuda/cuda_driver.h"

namespace lehr {

/// Pieces of memory, in one or several equal sets.
class CudaArena {
 public:
  /// Each piece of each set begins at a multiple of this many bytes.
  static constexpr std::int64_t kAlignment = 256;

  /// Allocates `sets` sets with a piece of each size in `bytes`, and fills all memory, including the guards,
  /// with guard bytes. Frees the memory of an earlier call. `driver` must outlive this object.
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
  /// Copy `count` bytes at offset `at` of a piece of set 0. The bytes may be in the guards around the piece.
  CudaStatus poke(std::size_t piece, std::int64_t at, const void* from, std::int64_t count) const;
  CudaStatus peek(std::size_t piece, std::int64_t at, void* to, std::int64_t count) const;

  /// A write outside of a piece of set 0.
  struct Damage {
    std::size_t piece = 0;
    std::int64_t distance = 0;  ///< distance in bytes from the piece's end or begin to the overwritten byte
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
