// Blocks that run together (PTX ISA 9.0, "Thread Blocks and Clusters"): their barriers, their shared memory,
// and operations on each other's mbarriers ("mapa", "mbarrier.arrive" on .shared::cluster,
// ".multicast::cluster" of "cp.async.bulk.tensor").
#include <fmt/core.h>

#include <algorithm>

#include "machine.h"

namespace lehr::emulator {

Who Machine::who_in(int thread, int rank) const {
  const int own = thread % of_block_;
  const int number = own / kLanes;
  const Block& block = blocks_[static_cast<std::size_t>(rank)];
  const Warp& warp = warps_[static_cast<std::size_t>(rank) * (warps_.size() / blocks_.size()) +
                            static_cast<std::size_t>(number)];
  Who result{own, number, block.epoch, warp.epoch, block_ + rank};
  result.tick = warp.seen[static_cast<std::size_t>(number)];
  result.seen = warp.seen.data();
  result.told = block.told.data();
  if (thread / of_block_ == rank) result.phases = &threads_[static_cast<std::size_t>(thread)].phases;
  return result;
}

std::string Machine::name_of_thread(int thread) const {
  return fmt::format("block {} thread {}", block_ + thread / of_block_, thread % of_block_);
}

void Machine::show_shared() {
  if (shown_ == rank()) return;
  blocks_[static_cast<std::size_t>(shown_)].shared.park();
  shown_ = rank();
  shared().unpark();
}

Traffic Machine::shared_traffic() const {
  Traffic all;
  for (const Block& block : blocks_) {
    all.read_bytes += block.shared.traffic.read_bytes;
    all.written_bytes += block.shared.traffic.written_bytes;
  }
  return all;
}

bool Machine::has_ended(int rank) const {
  const auto first = threads_.begin() + static_cast<std::ptrdiff_t>(rank) * of_block_;
  return std::all_of(first, first + of_block_, [](const Thread& t) { return t.state == State::kDone; });
}

bool Machine::release_barrier_of(int rank) {
  const auto first = threads_.begin() + static_cast<std::ptrdiff_t>(rank) * of_block_;
  const int line = first->line;
  if (!std::all_of(first, first + of_block_,
                   [&](const Thread& t) { return t.state == State::kAtBarrier && t.line == line; }))
    return false;
  std::for_each(first, first + of_block_, [](Thread& t) { t.state = State::kReady; });
  ready_.add(rank * of_block_, (rank + 1) * of_block_);
  ++blocks_[static_cast<std::size_t>(rank)].epoch;
  ++barriers_;
  return true;
}

void Machine::cluster_barrier(bool relaxed, int line) {
  self().state = State::kAtClusterBarrier;
  self().relaxed = relaxed;
  self().line = line;
  yield();
}

bool Machine::release_cluster_barrier() {
  const int line = threads_[0].line;
  if (!std::all_of(threads_.begin(), threads_.end(),
                   [&](const Thread& t) { return t.state == State::kAtClusterBarrier && t.line == line; }))
    return false;
  for (Thread& t : threads_) t.state = State::kReady;
  ready_.add(0, static_cast<int>(threads_.size()));
  const bool relaxed = threads_[0].relaxed;
  for (Block& block : blocks_)
    for (auto& [address, barrier] : block.mbarriers)
      barrier.known = barrier.known || barrier.fenced || !relaxed;
  barriers_ += static_cast<std::int64_t>(blocks_.size());
  if (relaxed) return true;
  for (Block& block : blocks_) block.shared.publish(++block.epoch);
  ++cluster_epoch_;
  return true;
}

Machine::MBarrier& Machine::mbarrier_of(int rank, std::uint32_t address) {
  if (rank == this->rank()) return mbarrier_at(address);
  if (rank < 0 || rank >= static_cast<int>(blocks_.size()))
    fail(fmt::format("reaches for block {} of a cluster of {}", rank, blocks_.size()));
  Block& block = blocks_[static_cast<std::size_t>(rank)];
  if (has_ended(rank)) fail(fmt::format("uses an mbarrier of block {}, which has ended", block_ + rank));
  const auto found = block.mbarriers.find(address);
  if (found == block.mbarriers.end() || !found->second.known)
    fail(fmt::format("uses an mbarrier of block {}, with no cluster barrier behind its init and a fence",
                     block_ + rank));
  return found->second;
}

void Machine::mbarrier_arrive_at(const void* barrier, int target) {
  const std::uint32_t address = shared_address(barrier);
  arrive(target, address, mbarrier_of(target, address), 0);
  if (target != rank()) blocks_[static_cast<std::size_t>(target)].arrived_from = cluster_epoch_;
}

void Machine::cluster_load(void* to, const void* from, int target) {
  const auto address = reinterpret_cast<std::uintptr_t>(from);
  if (target < 0 || target >= static_cast<int>(blocks_.size()))
    fail(fmt::format("reaches for block {} of a cluster of {}", target, blocks_.size()));
  Block& block = blocks_[static_cast<std::size_t>(target)];
  if (target != rank() && has_ended(target))
    fail(fmt::format("reads shared memory of block {}, which has ended", block_ + target));
  if (auto fault = block.shared.read_from_afar(address, 16, to))
    fail(fmt::format("of block {} {}", block_ + target, *fault));
  if (target != rank()) block.arrived_from = cluster_epoch_;
}

std::vector<int> Machine::targets_of(unsigned mask) {
  if (mask == 0) return {rank()};
  std::vector<int> targets;
  for (int target = 0; target < 16; ++target)
    if ((mask >> target & 1) != 0) targets.push_back(target);
  return targets;
}

}  // namespace lehr::emulator
