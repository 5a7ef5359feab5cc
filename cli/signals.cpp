// Holds the only global state of the program, since a signal handler can reach nothing else.
#include "cli/signals.h"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>

namespace lehr {
namespace {

std::atomic<bool> interrupted = false;
std::atomic<std::int64_t> asked_at_ms = 0;
static_assert(std::atomic<std::int64_t>::is_always_lock_free,
              "a signal handler may touch lock-free atomics only");

std::int64_t now_ms() {
  timespec now = {};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000 + 1;
}

extern "C" void on_end(int signal) {
  constexpr std::int64_t kSameRequestMs = 1000;
  std::int64_t first = 0;
  if (asked_at_ms.compare_exchange_strong(first, now_ms())) {
    interrupted.store(true);
    return;
  }
  if (signal != SIGINT && now_ms() - first < kSameRequestMs) return;
  struct sigaction usual = {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, nullptr);
  raise(signal);  // delivered when this handler returns
}

extern "C" void on_failed_write(int) {}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action = {};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(signal, &action, nullptr);
}

}  // namespace

const std::atomic<bool>& end_flag() {
  return interrupted;
}

const std::atomic<bool>& watch_signals() {
  handle(SIGINT, on_end);
  handle(SIGTERM, on_end);
  struct sigaction now = {};
  sigaction(SIGHUP, nullptr, &now);
  if (now.sa_handler != SIG_IGN) handle(SIGHUP, on_end);
  return interrupted;
}

void take_failed_writes_as_errors() {
  handle(SIGPIPE, on_failed_write);
  handle(SIGXFSZ, on_failed_write);
}

void end_by_broken_pipe() {
  constexpr int kCode = 128 + SIGPIPE;  // exit code if the signal is blocked
  handle(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
  _exit(kCode);
}

}  // namespace lehr
