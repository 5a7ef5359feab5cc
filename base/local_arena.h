// Memory for the intermediate values of one computation. It is handed out piece by piece, and released all at
// once.
#pragma once

#include <array>
#include <cstddef>
#include <memory_resource>

namespace lehr {

/// Has `kBytes` of its own, and takes further blocks from the heap. For std::pmr containers that do not
/// outlive it. Memory that a container gives back is not used again.
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
