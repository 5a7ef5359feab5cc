// The end of a thread.
#include "ir/spare_operands.h"

namespace lehr::ir {

void SpareOperands::close_at_end_of_thread() {
  struct AtEnd {
    ~AtEnd() { spare_operands.close(); }
  };
  thread_local const AtEnd at_end;
  static_cast<void>(&at_end);
}

void SpareOperands::close() {
  for (std::size_t count = 0; count < first_.size(); ++count)
    while (void* block = take(count)) ::operator delete(block);
  most_ = 0;
}

}  // namespace lehr::ir
