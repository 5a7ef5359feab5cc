// Short sequences in the memory of their kernel: the statements of a block, what an intrinsic touches.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <new>
#include <type_traits>

#include "ir/kernel_memory.h"

namespace lehr::ir {

/// A sequence of `T`s, which may be copied byte by byte and need no destructor. They never change, so that a
/// copy shares them and costs nothing; what is added to one copy the others do not see. Lives as long as its
/// memory (kernel_memory.h). To be added to by one thread at a time, copies included.
template <typename T>
class Items {
 public:
  Items() = default;
  Items(std::initializer_list<T> items) {
    if (items.size() == 0) return;
    reserve(items.size());
    put_at_end(items.begin(), items.size());
  }

  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  const T& front() const { return data_[0]; }
  const T& back() const { return data_[size_ - 1]; }

  void push_back(const T& item) {
    const T added = item;  // may be one of ours
    reserve(size_ + 1);
    put_at_end(&added, 1);
  }
  void push_front(const T& item) {
    Items result;
    result.reserve(size_ + 1);
    result.put_at_end(&item, 1);
    result.put_at_end(data_, size_);
    *this = result;
  }
  void append(const Items& items) {
    if (empty()) {
      *this = items;
    } else if (!items.empty()) {
      reserve(size_ + items.size_);
      put_at_end(items.data_, items.size_);
    }
  }
  /// Makes room for `size` of them in all, and some more where there was none.
  void reserve(std::size_t size) {
    // What lies behind our end may belong to a copy.
    if (data_ != nullptr && header()->used == size_ && size <= header()->capacity) return;
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
    static_assert(alignof(T) <= kMemoryStep && sizeof(T) % alignof(T) == 0);
    const std::size_t capacity = data_ == nullptr ? size : std::max(size, 2 * std::size_t{size_});
    auto* const memory =
        static_cast<std::byte*>(take_kernel_memory(round_up(kHeaderBytes + capacity * sizeof(T))));
    new (memory) Header{size_, static_cast<std::uint32_t>(capacity)};
    auto* const moved = reinterpret_cast<T*>(memory + kHeaderBytes);
    if (size_ != 0) std::memcpy(static_cast<void*>(moved), data_, size_ * sizeof(T));
    data_ = moved;
  }

  friend bool operator==(const Items& x, const Items& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end());
  }

 private:
  /// In front of the items.
  struct Header {
    std::uint32_t used;  // by the longest copy
    std::uint32_t capacity;
  };
  static constexpr std::size_t kHeaderBytes = kMemoryStep;
  static constexpr std::size_t round_up(std::size_t bytes) {
    return (bytes + kMemoryStep - 1) / kMemoryStep * kMemoryStep;
  }
  static_assert(sizeof(Header) <= kHeaderBytes);

  Header* header() const {
    return std::launder(reinterpret_cast<Header*>(reinterpret_cast<std::byte*>(data_) - kHeaderBytes));
  }
  /// There is room for them.
  void put_at_end(const T* items, std::size_t count) {
    if (count == 0) return;
    std::memcpy(static_cast<void*>(data_ + size_), items, count * sizeof(T));
    size_ += static_cast<std::uint32_t>(count);
    header()->used = size_;
  }

  T* data_ = nullptr;
  std::uint32_t size_ = 0;
};

}  // namespace lehr::ir
