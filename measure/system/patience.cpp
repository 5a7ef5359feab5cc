// The flag is a signal handler's, which can reach nothing else.
#include "measure/system/patience.h"

#include <algorithm>

namespace lehr {
namespace {

std::atomic<const std::atomic<bool>*> watched = nullptr;

}  // namespace

void give_up_when(const std::atomic<bool>& flag) {
  watched = &flag;
}

bool asked_to_end() {
  const std::atomic<bool>* const flag = watched;
  return flag != nullptr && flag->load();
}

int Patience::poll_ms() const {
  constexpr int kUnseenMs = 50;
  return std::min(milliseconds_left(deadline_), kUnseenMs);
}

}  // namespace lehr
