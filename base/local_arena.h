// Memory for the intermediate values of one computation: handed out piece by piece, given back all at once.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>

namespace lehr {

/// Has `kBytes` of its own, then takes blocks from the heap. For std::pmr containers that live shorter than
/// it does. Memory that they give back is not used again.
template <std::size_t kBytes>
class LocalArena {
 public:
  LocalArena() : resource_(first_.data(), first_.size()) {}
  LocalArena(const LocalArena&) = delete;
  LocalArena& operator=(const LocalArena&) = delete;

  std::pmr::memory_resource* memory() { return &resource_; }

 private:
  alignas(std::max_align_t) std::array<std::byte, kBytes> first_;
  std::pmr::monotonic_buffer_resource resource_;
};

}  // namespace lehr
