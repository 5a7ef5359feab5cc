// A problem's tensors in device memory. There are several sets, so that each launch of a sample finds its
// inputs in DRAM, and guards between tensors, so that writes outside of a tensor are found.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "measure/core/problem.h"
#include "measure/cuda/cuda_arena.h"
#include "measure/cuda/cuda_driver.h"

namespace lehr {

/// Checks use set 0.
class CudaTensors {
 public:
  /// Allocates and fills the tensors. Outputs are filled with poison. Inputs are filled with the problem's
  /// values; if the problem is not made, the caller makes the inputs and then calls keep(). Makes as many
  /// sets as together exceed `rotated_bytes`, or fewer if memory is short, but at least one. Frees the
  /// tensors of an earlier call. `driver` must outlive this object.
  CudaStatus place(const CudaDriver& driver, const Problem& problem, std::int64_t rotated_bytes);

  std::int64_t sets() const { return sets_; }
  /// Returns the bytes of one set, guards included.
  std::int64_t set_bytes() const { return arena_.set_bytes(); }
  std::size_t count() const { return arena_.count(); }
  CudaAddress address(std::size_t tensor, std::int64_t set) const { return arena_.address(tensor, set); }
  /// Returns the address of set 0. A set begins with a guard.
  CudaAddress address_of_set_0() const { return arena_.begin(); }
  std::int64_t bytes(std::size_t tensor) const { return arena_.bytes(tensor); }
  const std::vector<std::size_t>& outputs() const { return outputs_; }
  bool is_output(std::size_t tensor) const;
  bool is_read(std::size_t tensor) const { return roles_[tensor] != Role::kOut; }
  /// Returns the value that is passed instead of the address; nullptr: the address is passed.
  const void* by_value(std::size_t tensor) const;
  /// Copy bytes of a tensor of set 0, or of the guards around it.
  CudaStatus poke(std::size_t tensor, std::int64_t at, const void* from, std::int64_t count) const {
    return arena_.poke(tensor, at, from, count);
  }
  CudaStatus peek(std::size_t tensor, std::int64_t at, void* to, std::int64_t count) const {
    return arena_.peek(tensor, at, to, count);
  }

  /// Stores the values, in set 0, of arguments that are changed in place or passed by value.
  CudaStatus keep();
  /// Resets set 0: poisons outputs, and restores arguments that are changed in place.
  CudaStatus reset_outputs() const;
  /// Reads the bytes of a tensor of set 0.
  CudaStatus read(std::size_t tensor, std::vector<unsigned char>& bytes) const;
  /// Checks the guards of set 0, but not the inputs. `text` is set as by find_damage().
  CudaStatus find_damage_of_guards(std::string& text) const;
  /// Checks the guards and the inputs of set 0. `text` says which tensor's guard was overwritten, or which
  /// input has changed. It stays empty if nothing has changed.
  CudaStatus find_damage(std::string& text) const;

 private:
  CudaStatus fill_sets(const Problem& problem);

  CudaArena arena_;
  std::int64_t sets_ = 0;
  std::vector<Role> roles_;
  std::vector<std::size_t> outputs_;
  std::map<std::size_t, std::vector<unsigned char>> kept_;  ///< values stored by keep(), by tensor
  std::vector<std::uint64_t> sums_;                         ///< input_checksum() of each input
};

/// Returns a sentence about a write outside of `piece` ("argument 2").
std::string text_of(const CudaArena::Damage& damage, const std::string& piece);

}  // namespace lehr
