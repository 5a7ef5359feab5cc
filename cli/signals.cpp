// The one piece of global state in the program: a signal handler can reach nothing else.
#include "cli/signals.h"

#include <signal.h>

namespace lehr {
namespace {

std::atomic<bool> interrupted = false;
static_assert(std::atomic<bool>::is_always_lock_free, "a signal handler may touch lock-free atomics only");

extern "C" void on_signal(int) {
  interrupted.store(true);
}

}  // namespace

const std::atomic<bool>& watch_signals() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND) | SA_RESTART;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
  return interrupted;
}

}  // namespace lehr
