// Memory that ends where nothing may be touched, and a call that shows whether anything was.
#pragma once

#include <cstddef>
#include <functional>

namespace lehr::testing {

/// Bytes that end where the next page can't be touched, behind others that must stay as they are. A vector
/// that reads beyond the last element of a tensor would work anywhere else, until a user's tensor ends there.
class Guarded {
 public:
  explicit Guarded(std::size_t bytes);
  ~Guarded();
  Guarded(Guarded&& other) noexcept;
  Guarded& operator=(Guarded&&) = delete;

  unsigned char* data() const { return begin_ + pages_ - bytes_; }
  std::size_t size() const { return bytes_; }
  /// Returns whether nothing was written before data().
  bool intact() const;

 private:
  unsigned char* begin_ = nullptr;
  std::size_t bytes_ = 0, pages_ = 0, mapped_ = 0;
};

/// Returns whether `run` came back without touching what it must not. It runs on this thread.
bool touches_nothing_else(const std::function<void()>& run);

}  // namespace lehr::testing
