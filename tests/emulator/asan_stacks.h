// Tells the address sanitizer of the fibers' stacks, which it cannot see change; nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace lehr::emulator {

/// A stack from its lowest address up.
struct Stack {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

/// Announces a jump to `to`. The result goes to arrived() when this stack is jumped back to.
inline void* leaving([[maybe_unused]] const Stack& to) {
  void* fake = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake, to.bottom, to.bytes);
#endif
  return fake;
}
/// Ends a jump, and returns the stack that was left. `fake` is null on a stack's first arrival.
inline Stack arrived([[maybe_unused]] void* fake) {
  Stack from;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, &from.bottom, &from.bytes);
#endif
  return from;
}
/// Clears the marks of frames that never returned, before a stack is used again.
inline void forget_frames([[maybe_unused]] const Stack& stack) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack.bottom, stack.bytes);
#endif
}

}  // namespace lehr::emulator
