// Memory without exceptions and without the C++ library's code: a failed allocation is false or null.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

namespace lehr::runtime {

/// A growing array of plain values.
template <typename T>
class Array {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  Array() = default;
  ~Array() { std::free(data_); }
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  /// Changes the size to `size` values. New values are zero. Returns false if there is no memory; then
  /// nothing has changed.
  [[nodiscard]] bool resize(std::size_t size) {
    if (!reserve(size)) return false;
    for (std::size_t i = size_; i < size; ++i) data_[i] = T{};
    size_ = size;
    return true;
  }
  /// Removes the last value; there must be one.
  void shrink() { --size_; }
  [[nodiscard]] bool add(const T& value) {
    if (size_ == capacity_ && !reserve(size_ < 2 ? 4 : 2 * size_)) return false;
    data_[size_++] = value;
    return true;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }

 private:
  bool reserve(std::size_t capacity) {
    if (capacity <= capacity_) return true;
    if (capacity > static_cast<std::size_t>(-1) / 2 / sizeof(T)) return false;
    void* grown = std::realloc(data_, capacity * sizeof(T));
    if (grown == nullptr) return false;
    data_ = static_cast<T*>(grown);
    capacity_ = capacity;
    return true;
  }

  T* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

/// The owner of a single value. It is empty if there was no memory for the value.
template <typename T>
class Owner {
 public:
  Owner() = default;
  static Owner make() {
    Owner owner;
    if (void* memory = std::malloc(sizeof(T))) owner.value_ = ::new (memory) T;
    return owner;
  }
  ~Owner() { reset(nullptr); }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;
  Owner(Owner&& other) noexcept : value_(other.release()) {}
  Owner& operator=(Owner&& other) noexcept {
    reset(other.release());
    return *this;
  }

  /// Gives the value to the caller.
  T* release() { return std::exchange(value_, nullptr); }
  /// Destroys the owned value, and takes ownership of `value`.
  void reset(T* value) {
    if (value_ != nullptr) value_->~T();
    std::free(value_);
    value_ = value;
  }
  explicit operator bool() const { return value_ != nullptr; }
  T* get() const { return value_; }
  T* operator->() const { return value_; }

 private:
  T* value_ = nullptr;
};

}  // namespace lehr::runtime
