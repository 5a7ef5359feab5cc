// Pieces of kernels' memory, counted by their shares; a thread uses its last memory again where nobody shares
// it any more.
#include "ir/kernel_memory.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>
#include <vector>

#include "base/address_sanitizer.h"

namespace lehr::ir {

class KernelMemory {
 public:
  void add_share() { shares_.fetch_add(1, std::memory_order_relaxed); }
  void drop_share() {
    if (shares_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  /// Whether there is one share only, the caller's.
  bool is_free() const { return shares_.load(std::memory_order_acquire) == 1; }
  void use_again() { used_ = 0; }
  /// Of at least so many bytes.
  MemoryPiece next_piece(std::size_t bytes) {
    while (used_ < pieces_.size() && pieces_[used_].bytes < bytes) ++used_;
    if (used_ == pieces_.size()) pieces_.emplace_back(std::max(bytes, kPieceBytes));
    const Piece& piece = pieces_[used_++];
    return {piece.begin.get(), piece.begin.get() + piece.bytes};
  }

 private:
  /// Most kernels need one or two.
  static constexpr std::size_t kPieceBytes = 16 << 10;
  struct Piece {
    explicit Piece(std::size_t size)
        : begin(std::make_unique_for_overwrite<std::byte[]>(size)), bytes(size) {}
    std::unique_ptr<std::byte[]> begin;
    std::size_t bytes;
  };

  std::atomic<int> shares_ = 1;
  std::vector<Piece> pieces_;
  std::size_t used_ = 0;  // pieces
};

namespace {

struct ThreadMemory {
  int scopes = 0;                   // that are alive
  KernelMemory* inside = nullptr;   // theirs, or the last ones'
  KernelMemory* outside = nullptr;  // of what was made without a scope
  MemoryPiece outside_piece;        // while there are scopes

  ~ThreadMemory() {
    memory_piece = {};
    if (inside != nullptr) inside->drop_share();
    if (outside != nullptr) outside->drop_share();
  }
};
thread_local ThreadMemory thread_memory;

void enter_scope() {
  ThreadMemory& mine = thread_memory;
  if (mine.scopes++ > 0) return;
  mine.outside_piece = std::exchange(memory_piece, {});
  // Never again under the address sanitizer, which so sees who uses something too long.
  if (mine.inside != nullptr && mine.inside->is_free() && !kAddressSanitizer) {
    mine.inside->use_again();
  } else {
    if (mine.inside != nullptr) mine.inside->drop_share();
    mine.inside = new KernelMemory;
  }
}

}  // namespace

void* take_from_next_piece(std::size_t bytes) {
  ThreadMemory& mine = thread_memory;
  KernelMemory*& memory = mine.scopes > 0 ? mine.inside : mine.outside;
  if (memory == nullptr) memory = new KernelMemory;
  memory_piece = memory->next_piece(bytes);
  return take_kernel_memory(bytes);
}

KernelShare::KernelShare(KernelMemory* memory) : memory_(memory) {
  if (memory_ != nullptr) memory_->add_share();
}
KernelShare::KernelShare(const KernelShare& other) noexcept : KernelShare(other.memory_) {}
KernelShare::KernelShare(KernelShare&& other) noexcept : memory_(std::exchange(other.memory_, nullptr)) {}
KernelShare& KernelShare::operator=(KernelShare other) noexcept {
  std::swap(memory_, other.memory_);
  return *this;
}
KernelShare::~KernelShare() {
  if (memory_ != nullptr) memory_->drop_share();
}

KernelScope::KernelScope() {
  enter_scope();
}
KernelScope::KernelScope(const KernelScope&) {
  enter_scope();
}
KernelScope::~KernelScope() {
  ThreadMemory& mine = thread_memory;
  if (--mine.scopes == 0) memory_piece = mine.outside_piece;
}
KernelShare KernelScope::share() {
  return KernelShare(thread_memory.inside);
}

}  // namespace lehr::ir
