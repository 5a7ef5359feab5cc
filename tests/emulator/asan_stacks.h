// Tells the address sanitizer when the stack changes to a fiber's stack, because it cannot see that itself.
// Does nothing in other builds.
#pragma once

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif

namespace lehr::emulator {

/// A stack. `bottom` is its lowest address.
struct Stack {
  const void* bottom = nullptr;
  std::size_t bytes = 0;
};

/// Announces a jump to the stack `to`. Pass the result to arrived() when this stack is jumped back to.
inline void* leaving([[maybe_unused]] const Stack& to) {
  void* fake = nullptr;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake, to.bottom, to.bytes);
#endif
  return fake;
}
/// Ends a jump, and returns the stack that was left. `fake` is nullptr when a stack is reached for the first
/// time.
inline Stack arrived([[maybe_unused]] void* fake) {
  Stack from;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake, &from.bottom, &from.bytes);
#endif
  return from;
}
/// Clears the marks of frames that never returned. Call it before a stack is used again.
inline void forget_frames([[maybe_unused]] const Stack& stack) {
#if defined(__SANITIZE_ADDRESS__)
  __asan_unpoison_memory_region(stack.bottom, stack.bytes);
#endif
}

}  // namespace lehr::emulator
