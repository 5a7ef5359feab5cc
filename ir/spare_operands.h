// Memory for the operands of expressions. Internal to ir/expr.
#pragma once

#include <array>
#include <cstddef>
#include <new>

namespace lehr::ir {

/// What this thread gave back last, for its next expression: still in the nearest cache, where a general
/// allocator hands out the block that was not used for longest. Bounded, because a thread may drop what
/// others build.
class SpareOperands {
 public:
  /// Memory of an expression with so many operands (1 to 3); nullptr: none is kept.
  void* take(std::size_t count) {
    Block* block = first_[count];
    if (block == nullptr) return nullptr;
    first_[count] = block->next;
    --kept_;
    return block;
  }
  /// False: it is the caller's to free.
  bool keep(void* memory, std::size_t count) {
    if (kept_ >= most_) return false;
    if (kept_ == 0) close_at_end_of_thread();
    first_[count] = new (memory) Block{first_[count]};
    ++kept_;
    return true;
  }

 private:
  struct Block {
    Block* next;
  };
  static void close_at_end_of_thread();
  void close();

  std::array<Block*, 4> first_ = {};  // by number of operands
  int kept_ = 0, most_ = 4096;
};

/// Without a constructor or a destructor to run, so that a use need not check whether it is there already.
inline constinit thread_local SpareOperands spare_operands;

}  // namespace lehr::ir
