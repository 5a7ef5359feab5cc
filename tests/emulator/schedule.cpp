#include "schedule.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace lehr::emulator {
namespace {

constexpr int kWarp = 32;
constexpr std::uint64_t kStay = 32;

}  // namespace

Schedule rotated(std::uint64_t number) {
  constexpr Order kOrders[] = {Order::kForward, Order::kRandom, Order::kReverse, Order::kWarpAhead};
  return {kOrders[number % 4], number};
}

std::vector<std::int64_t> ReadyThreads::blocks(std::int64_t count) {
  std::vector<std::int64_t> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), std::int64_t{0});
  if (order_ == Order::kReverse) std::reverse(order.begin(), order.end());
  if (order_ == Order::kRandom || order_ == Order::kWarpAhead) rng_.shuffle(order);
  return order;
}

void ReadyThreads::begin(int threads, int blocks) {
  ready_.clear();
  of_block_ = threads;
  blocks_ = blocks;
  block_ = 0;
  warp_rank_.resize(static_cast<std::size_t>((threads * blocks + kWarp - 1) / kWarp));
  std::iota(warp_rank_.begin(), warp_rank_.end(), 0);
  if (order_ == Order::kWarpAhead) rng_.shuffle(warp_rank_);
}

void ReadyThreads::add(int first, int last) {
  for (int i = first; i < last; ++i) ready_.push_back(order_ == Order::kReverse ? last - 1 - (i - first) : i);
}

int ReadyThreads::take() {
  // Switching to another block costs a copy of its shared memory. So this is done only sometimes, or if all
  // threads of this block wait.
  const auto here = [&](int thread) { return thread / of_block_ == block_; };
  const bool stays = blocks_ > 1 && !(order_ == Order::kRandom && rng_.below(kStay) == 0) &&
                     std::any_of(ready_.begin(), ready_.end(), here);
  const auto first =
      stays ? std::stable_partition(ready_.begin(), ready_.end(), std::not_fn(here)) : ready_.begin();
  auto at = first;
  if (order_ == Order::kRandom)
    at += static_cast<std::ptrdiff_t>(rng_.below(static_cast<std::uint64_t>(ready_.end() - first)));
  if (order_ == Order::kWarpAhead) {
    const auto rank = [&](int thread) { return warp_rank_[static_cast<std::size_t>(thread / kWarp)]; };
    at = std::min_element(first, ready_.end(), [&](int a, int b) { return rank(a) < rank(b); });
  }
  const int thread = *at;
  block_ = thread / of_block_;
  ready_.erase(at);
  return thread;
}

bool ReadyThreads::lands_at_once() {
  return order_ == Order::kForward || (order_ == Order::kRandom && rng_.below(2) == 0);
}

}  // namespace lehr::emulator
