// A problem's tensors in device memory: in several sets, so that each launch of a sample finds its inputs in
// DRAM, and between guards, so that writes outside them are found.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/core/problem.h"
#include "measure/cuda/cuda_arena.h"
#include "measure/cuda/cuda_driver.h"

namespace lehr {

/// Set 0 is the one that is checked.
class CudaTensors {
 public:
  /// Allocates and fills: with the values, where the problem is made (else whoever has placed them makes them
  /// and calls keep()), outputs with poison. As many sets as exceed `rotated_bytes` together, fewer when
  /// memory is short, one at least. What an earlier call placed is freed. `driver` must outlive this object.
  CudaStatus place(const CudaDriver& driver, const Problem& problem, std::int64_t rotated_bytes);

  std::int64_t sets() const { return sets_; }
  /// What one set needs, guards included.
  std::int64_t set_bytes() const { return arena_.set_bytes(); }
  std::size_t count() const { return arena_.count(); }
  CudaAddress address(std::size_t tensor, std::int64_t set) const { return arena_.address(tensor, set); }
  /// Where set 0 begins, with a guard.
  CudaAddress address_of_set_0() const { return arena_.begin(); }
  std::int64_t bytes(std::size_t tensor) const { return arena_.bytes(tensor); }
  const std::vector<std::size_t>& outputs() const { return outputs_; }
  bool is_output(std::size_t tensor) const;
  bool is_read(std::size_t tensor) const { return roles_[tensor] != Role::kOut; }
  /// What is passed by value in the place of the address; nullptr: this tensor's address is.
  const void* by_value(std::size_t tensor) const;
  /// Bytes of a tensor of set 0, or of the guards around it.
  CudaStatus poke(std::size_t tensor, std::int64_t at, const void* from, std::int64_t count) const {
    return arena_.poke(tensor, at, from, count);
  }
  CudaStatus peek(std::size_t tensor, std::int64_t at, void* to, std::int64_t count) const {
    return arena_.peek(tensor, at, to, count);
  }

  /// Remembers what lies there in set 0 of what is changed in place or passed by value.
  CudaStatus keep();
  /// In set 0: poisons what is written, puts back what is changed in place.
  CudaStatus reset_outputs() const;
  /// Bytes of a tensor of set 0.
  CudaStatus read(std::size_t tensor, std::vector<unsigned char>& bytes) const;
  /// Reads the guards of set 0, and not the inputs.
  CudaStatus find_damage_of_guards(std::string& text) const;
  /// Reads the guards and the inputs of set 0. `text` says which tensor's guard was overwritten, or which
  /// input is another one than was placed, and stays empty if none is.
  CudaStatus find_damage(std::string& text) const;

 private:
  CudaStatus fill_sets(const Problem& problem);

  CudaArena arena_;
  std::int64_t sets_ = 0;
  std::vector<Role> roles_;
  std::vector<std::size_t> outputs_;
  std::map<std::size_t, std::vector<unsigned char>> kept_;  ///< by tensor
  std::vector<std::uint64_t> sums_;                         ///< of the inputs' bytes: input_checksum()
};

/// A sentence about a write outside `piece` ("argument 2").
std::string text_of(const CudaArena::Damage& damage, const std::string& piece);

}  // namespace lehr
