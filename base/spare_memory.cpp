// The end of a thread.
#include "base/spare_memory.h"

namespace lehr {

void SpareMemory::close_at_end_of_thread() {
  struct AtEnd {
    ~AtEnd() { spare_memory.close(); }
  };
  thread_local const AtEnd at_end;
  static_cast<void>(&at_end);
}

void SpareMemory::close() {
  most_ = 0;
  for (Block*& first : first_) {
    while (first != nullptr) {
      Block* const block = first;
      first = block->next;
      ::operator delete(block);
    }
  }
}

}  // namespace lehr
