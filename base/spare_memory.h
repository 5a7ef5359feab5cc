// Memory for the small pieces of a search's inner loop: the nodes of an AST, built and dropped by the hundred
// million.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace lehr {

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define LEHR_ADDRESS_SANITIZER
#endif
#endif
#if defined(__SANITIZE_ADDRESS__)
#define LEHR_ADDRESS_SANITIZER
#endif

/// Blocks that this thread gave back last, for its next one of the size: still in the nearest cache, where a
/// general allocator hands out the block that was not used for longest. Bounded, because a thread may drop
/// what others build.
class SpareMemory {
 public:
#ifdef LEHR_ADDRESS_SANITIZER
  static constexpr int kMost = 0;  ///< blocks kept: none, so that the sanitizer sees who uses one too long
#else
  static constexpr int kMost = 4096;
#endif
  /// As operator new, for at least one byte.
  void* take(std::size_t bytes) {
    if (bytes > kLargest) return ::operator new(bytes);
    Block*& first = first_[place_of(bytes)];
    Block* const block = first;
    if (block == nullptr) return ::operator new((place_of(bytes) + 1) * kStep);
    first = block->next;
    --kept_;
    return block;
  }
  /// As operator delete: of memory that take(bytes) has given, on this thread or another.
  void give_back(void* memory, std::size_t bytes) {
    if (bytes > kLargest || kept_ >= most_) return ::operator delete(memory);
    if (kept_ == 0) close_at_end_of_thread();
    Block*& first = first_[place_of(bytes)];
    first = new (memory) Block{first};
    ++kept_;
  }

 private:
  static constexpr std::size_t kStep = 16, kLargest = 256;
  struct Block {
    Block* next;
  };
  /// Of the blocks of a size, rounded up to a multiple of kStep.
  static constexpr std::size_t place_of(std::size_t bytes) { return (bytes + kStep - 1) / kStep - 1; }
  static void close_at_end_of_thread();
  void close();

  std::array<Block*, kLargest / kStep> first_ = {};
  int kept_ = 0, most_ = kMost;
};

/// Without a constructor or a destructor to run, so that a use need not check whether it is there already.
inline constinit thread_local SpareMemory spare_memory;

/// For standard containers of few elements.
template <typename T>
struct SpareAllocator {
  using value_type = T;
  SpareAllocator() = default;
  template <typename U>
  SpareAllocator(const SpareAllocator<U>&) {}  // NOLINT: implicit, as containers need it
  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(spare_memory.take(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t count) { spare_memory.give_back(memory, count * sizeof(T)); }
  friend bool operator==(const SpareAllocator&, const SpareAllocator&) { return true; }
};

}  // namespace lehr
