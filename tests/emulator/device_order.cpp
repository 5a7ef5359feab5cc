#include "device_order.h"

#include <fmt/core.h>

namespace lehr::emulator {

void DeviceOrder::begin_blocks(std::int64_t first, std::size_t count, int threads) {
  first_ = first;
  blocks_.assign(count, Block());
  for (Block& block : blocks_) block.threads.resize(static_cast<std::size_t>(threads));
}

void DeviceOrder::fence(const Who& who) {
  const Block& block = block_of(who);
  Thread& thread = block_of(who).threads[static_cast<std::size_t>(who.thread)];
  if (thread.fence_epoch < who.epoch) {
    thread.fences_before = thread.fences;
    thread.fence_epoch = who.epoch;
  }
  ++thread.fences;
  if (block.atomic >= 0 && (block.atomic_epoch < who.epoch || block.atomic_thread == who.thread))
    thread.has_acquired = true;
}

void DeviceOrder::atomic(const Who& who, std::uintptr_t address) {
  Block& block = block_of(who);
  Published& published = published_[{who.block, address}];
  published = {++atomics_, {}};
  for (std::size_t i = 0; i < block.threads.size(); ++i) {
    const Thread& thread = block.threads[i];
    const bool ordered = thread.fence_epoch < who.epoch || static_cast<int>(i) == who.thread;
    published.fences.push_back(ordered ? thread.fences : thread.fences_before);
  }
  block.atomic = atomics_;
  block.atomic_address = address;
  block.atomic_epoch = who.epoch;
  block.atomic_thread = who.thread;
}

WriteStamp DeviceOrder::stamp(const Who& who) const {
  return {who.block, who.thread, who.epoch,
          block_of(who).threads[static_cast<std::size_t>(who.thread)].fences};
}

std::optional<std::string> DeviceOrder::why_unordered(const WriteStamp& write, const Who& who) const {
  if (write.block < 0) return "nobody has written it in this launch";
  if (write.block == who.block) {
    if (write.thread == who.thread || write.epoch < who.epoch) return std::nullopt;
    return fmt::format("thread {} has written it since the last barrier", write.thread);
  }
  const std::string writer = fmt::format("thread {} of block {}", write.thread, write.block);
  const Block& block = block_of(who);
  const auto found =
      block.atomic < 0 ? published_.end() : published_.find({write.block, block.atomic_address});
  if (found == published_.end() || found->second.when > block.atomic)
    return writer + " has written it, and no atomic orders the two";
  if (found->second.fences[static_cast<std::size_t>(write.thread)] <= write.fences)
    return writer + " has written it, with no fence between that and its block's atomic";
  if (!block.threads[static_cast<std::size_t>(who.thread)].has_acquired)
    return writer + " has written it, and the reader makes no fence behind its own block's atomic";
  return std::nullopt;
}

}  // namespace lehr::emulator
