#include "device_order.h"

#include <fmt/format.h>

namespace lehr::emulator {

void DeviceOrder::begin_block(int threads) {
  threads_.assign(static_cast<std::size_t>(threads), Thread{});
  atomic_epoch_ = -1;
}

void DeviceOrder::fence(const Who& who) {
  Thread& thread = threads_[static_cast<std::size_t>(who.thread)];
  if (thread.fence_epoch < who.epoch) {
    thread.fences_before = thread.fences;
    thread.fence_epoch = who.epoch;
  }
  ++thread.fences;
  if (atomic_epoch_ >= 0 && (atomic_epoch_ < who.epoch || atomic_thread_ == who.thread))
    thread.has_acquired = true;
}

void DeviceOrder::atomic(const Who& who, std::uintptr_t address) {
  std::vector<int>& published = published_[{who.block, address}];
  published.clear();
  for (std::size_t i = 0; i < threads_.size(); ++i) {
    const Thread& thread = threads_[i];
    const bool ordered = thread.fence_epoch < who.epoch || static_cast<int>(i) == who.thread;
    published.push_back(ordered ? thread.fences : thread.fences_before);
  }
  atomic_address_ = address;
  atomic_epoch_ = who.epoch;
  atomic_thread_ = who.thread;
}

WriteStamp DeviceOrder::stamp(const Who& who) const {
  return {who.block, who.thread, who.epoch, threads_[static_cast<std::size_t>(who.thread)].fences};
}

std::optional<std::string> DeviceOrder::why_unordered(const WriteStamp& write, const Who& who) const {
  if (write.block < 0) return "nobody has written it in this launch";
  if (write.block == who.block) {
    if (write.thread == who.thread || write.epoch < who.epoch) return std::nullopt;
    return fmt::format("thread {} has written it since the last barrier", write.thread);
  }
  const std::string writer = fmt::format("thread {} of block {}", write.thread, write.block);
  const auto found = atomic_epoch_ < 0 ? published_.end() : published_.find({write.block, atomic_address_});
  if (found == published_.end()) return writer + " has written it, and no atomic orders the two";
  if (found->second[static_cast<std::size_t>(write.thread)] <= write.fences)
    return writer + " has written it, with no fence between that and its block's atomic";
  if (!threads_[static_cast<std::size_t>(who.thread)].has_acquired)
    return writer + " has written it, and the reader makes no fence behind its own block's atomic";
  return std::nullopt;
}

}  // namespace lehr::emulator
