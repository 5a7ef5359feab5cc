// Memory that ends at a page that must not be touched, and a function that detects whether it was.
#pragma once

#include <cstddef>
#include <functional>

namespace lehr::testing {

/// Bytes whose end is the beginning of a page that cannot be accessed. Other bytes before them must not
/// change. A vector access beyond the last element of a tensor would go unnoticed in other memory, until a
/// user's tensor ends at such a page.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes);
  ~Guarded();
  Guarded(Guarded&& other) noexcept;
  Guarded& operator=(Guarded&&) = delete;

  unsigned char* data() const { return begin_ + pages_ - bytes_; }
  std::size_t size() const { return bytes_; }
  /// Returns whether no byte before data() was written.
  bool intact() const;

 private:
  unsigned char* begin_ = nullptr;
  std::size_t bytes_ = 0, pages_ = 0, mapped_ = 0;
};

/// Returns whether `run` returned without an access to such a page. It runs on this thread.
bool touches_nothing_else(const std::function<void()>& run);

}  // namespace lehr::testing
