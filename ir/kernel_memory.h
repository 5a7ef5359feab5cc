// Memory of a kernel's statements and expressions: they lie together and go together, because a search builds
// and drops hundreds of millions of them. A KernelBuilder opens the memory of its kernel; who makes
// expressions without one opens a scope.
#pragma once

#include <cstddef>

namespace lehr::ir {

class KernelMemory;

/// A share of the memory that a kernel lies in, which is given back when the last share is gone. Shares of
/// one memory may be copied and dropped on any thread.
class KernelShare {
 public:
  KernelShare() = default;
  KernelShare(const KernelShare& other) noexcept;
  KernelShare(KernelShare&& other) noexcept;
  KernelShare& operator=(KernelShare other) noexcept;
  ~KernelShare();
  /// Where a kernel lies is no part of its value.
  friend bool operator==(const KernelShare&, const KernelShare&) { return true; }

 private:
  friend class KernelScope;
  explicit KernelShare(KernelMemory* memory);
  KernelMemory* memory_ = nullptr;
};

/// While one is alive, all statements and expressions that its thread makes lie in one memory; scopes that
/// are alive together have one in common. What a thread makes without a scope stays until it ends.
class KernelScope {
 public:
  KernelScope();
  KernelScope(const KernelScope&);
  KernelScope& operator=(const KernelScope&) { return *this; }
  ~KernelScope();
  /// Of this thread's scopes.
  static KernelShare share();
};

/// What is left of the thread's open piece.
struct MemoryPiece {
  std::byte* at = nullptr;
  std::byte* end = nullptr;
};
inline constinit thread_local MemoryPiece memory_piece;
/// Opens the thread's next piece and takes from that.
void* take_from_next_piece(std::size_t bytes);

inline constexpr std::size_t kMemoryStep = 16;
/// Of a multiple of kMemoryStep bytes, aligned to that.
inline void* take_kernel_memory(std::size_t bytes) {
  if (static_cast<std::size_t>(memory_piece.end - memory_piece.at) < bytes)
    return take_from_next_piece(bytes);
  void* const result = memory_piece.at;
  memory_piece.at += bytes;
  return result;
}

}  // namespace lehr::ir
