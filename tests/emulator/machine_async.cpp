// Operations that threads start without waiting for them: mbarriers (PTX ISA 9.0, "mbarrier"), loads of the
// tensor memory accelerator ("cp.async.bulk.tensor") and wgmma.
#include <fmt/core.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "machine.h"
#include "number.h"
#include "tests/support/box_elements.h"

namespace lehr::emulator {
namespace {

constexpr std::uint32_t kPoisonedSum = 0xFFFFFFFF;  // a NaN
constexpr int kBarrierBytes = 8;
// Alignment of the address in shared memory: PTX ISA 9.0, "cp.async.bulk.tensor".
constexpr int kLoadAlignment = 128;
constexpr int kRegistersOfCore = 65536;

}  // namespace

std::uint32_t Machine::shared_address(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (!shared().holds(address))
    fail(
        fmt::format("an operand of an asynchronous instruction is outside shared "
                    "memory, near {}",
                    nearest(address)));
  return static_cast<std::uint32_t>(address - shared().begin());
}

Machine::MBarrier& Machine::mbarrier_at(std::uint32_t address) {
  const auto found = block().mbarriers.find(address);
  if (found == block().mbarriers.end())
    fail(fmt::format("there is no mbarrier at byte {} of shared memory", address));
  const Who& made = found->second.made;
  if (made.thread != thread_ % of_block_ && made.epoch == block().epoch && !found->second.known)
    fail(fmt::format("uses the mbarrier that thread {} has made, with no barrier in between", made.thread));
  return found->second;
}

void Machine::mbarrier_init(const void* barrier, int arrivals) {
  const std::uint32_t address = shared_address(barrier);
  if (address % kBarrierBytes != 0) fail("an mbarrier is not aligned to 8 bytes");
  if (block().mbarriers.count(address) != 0) fail("makes an mbarrier a second time");
  block().mbarriers[address] = {arrivals, arrivals, 0, 0, who()};
}

/// Performs "fence.mbarrier_init.release.cluster".
void Machine::mbarrier_init_fence() {
  for (auto& [address, barrier] : block().mbarriers)
    if (barrier.made.thread == thread_ % of_block_) barrier.fenced = true;
}

void Machine::end_phase_if_complete(int rank, std::uint32_t address, MBarrier& barrier) {
  if (barrier.pending != 0 || barrier.transaction_bytes != 0) return;
  ++barrier.phase;
  barrier.pending = barrier.arrivals;
  for (int i = rank * of_block_; i < (rank + 1) * of_block_; ++i) {
    Thread& thread = threads_[static_cast<std::size_t>(i)];
    if (thread.state != State::kAtMBarrier || thread.barrier != address) continue;
    thread.state = State::kReady;
    ready_.add(i, i + 1);
  }
}

void Machine::mbarrier_arrive(const void* pointer, int transaction_bytes) {
  const std::uint32_t address = shared_address(pointer);
  arrive(rank(), address, mbarrier_at(address), transaction_bytes);
}

void Machine::arrive(int rank, std::uint32_t address, MBarrier& barrier, int transaction_bytes) {
  if (barrier.pending == 0)
    fail(fmt::format("arrives at an mbarrier that has its {} arrivals of this phase", barrier.arrivals));
  for (const std::shared_ptr<WgmmaCall>& call : self().finished) end_reads(*call);
  self().finished.clear();
  const auto own = static_cast<std::size_t>(thread_ % of_block_ / kLanes);
  int& tick = warps_[static_cast<std::size_t>(thread_ / kLanes)].seen[own];
  block().told[own] = tick++;
  barrier.transaction_bytes += transaction_bytes;
  --barrier.pending;
  end_phase_if_complete(rank, address, barrier);
}

/// Performs "mbarrier.try_wait" with .parity: returns once the phase with that parity, which is the current
/// phase or the one before, has ended.
void Machine::mbarrier_wait(const void* pointer, int parity, int line) {
  const std::uint32_t address = shared_address(pointer);
  if (parity != 0 && parity != 1) fail(fmt::format("waits for an mbarrier's phase of parity {}", parity));
  while (mbarrier_at(address).phase % 2 == parity) {
    self().state = State::kAtMBarrier;
    self().barrier = address;
    self().line = line;
    yield();
  }
  self().phases[address] = mbarrier_at(address).phase;
}

const ir::TensorMap& Machine::map_of(std::size_t param, std::uint32_t address, const BoxPlace& place,
                                     const char* what) {
  if (param >= buffers_.size() || !buffers_[param].map) fail("a TMA instruction without a tensor map");
  check_waited(buffers_[param], "asks for a copy of");
  const ir::TensorMap& map = *buffers_[param].map;
  const std::int64_t inner = map.box[0] * static_cast<std::int64_t>(buffers_[param].element_bytes());
  if (address % kLoadAlignment != 0)
    fail(fmt::format("a TMA {} byte {}, which is no multiple of 128", what, address));
  if (map.swizzle != 0 && inner != map.swizzle)
    fail(fmt::format("a box {} bytes wide with a swizzle of {}", inner, map.swizzle));
  if (auto wrong = why_no_box(map, place)) fail(fmt::format("a TMA {} {}", what, *wrong));
  return map;
}

void Machine::tma_load(void* shared, std::size_t param, const void* barrier, const BoxPlace& place,
                       unsigned mask) {
  const auto to = reinterpret_cast<std::uintptr_t>(shared);
  const ir::TensorMap& map = map_of(param, shared_address(shared), place, "load to");
  const auto bytes = static_cast<std::uintptr_t>(ir::box_elements(map)) * buffers_[param].element_bytes();
  const Load load{to, param, shared_address(barrier), place, thread_, targets_of(mask)};
  for (const int target : load.targets) {
    mbarrier_of(target, load.barrier);
    SharedMemory& memory = blocks_[static_cast<std::size_t>(target)].shared;
    for (std::uintptr_t at = to; at < to + bytes; at += 16)
      if (auto fault = memory.begin_load(at, who_in(thread_, target))) fail("a TMA load " + *fault);
  }
  if (ready_.lands_at_once()) {
    land(load);
  } else {
    loads_.push_back(load);
  }
}

/// Writes the box into shared memory. Elements outside of the tensor are zero.
void Machine::land(const Load& load) {
  GlobalBuffer& buffer = buffers_[load.param];
  const ir::TensorMap& map = *buffer.map;
  const auto size = static_cast<std::int64_t>(buffer.element_bytes());
  const auto* global = static_cast<const unsigned char*>(buffer.data());
  std::array<unsigned char, 16> chunk{};
  const std::int64_t per_chunk = 16 / size;
  std::int64_t moved = 0;
  for (std::int64_t first = 0; first < ir::box_elements(map); first += per_chunk) {
    chunk.fill(0);
    for (std::int64_t e = 0; e < per_chunk; ++e) {
      const std::optional<std::int64_t> element = element_of_box(map, load.place, first + e);
      if (!element) continue;
      std::memcpy(chunk.data() + e * size, global + *element * size, static_cast<std::size_t>(size));
      if (map.tf32) {
        float value = 0;
        std::memcpy(&value, chunk.data() + e * size, sizeof value);
        const std::uint32_t rounded = round_to_tf32(value);
        std::memcpy(chunk.data() + e * size, &rounded, sizeof rounded);
      }
      buffer.traffic.read_bytes += size;
    }
    for (const int target : load.targets) {
      Block& block = blocks_[static_cast<std::size_t>(target)];
      SharedMemory& memory = block.shared;
      const auto address =
          static_cast<std::uint32_t>(load.shared - memory.begin() + static_cast<std::uintptr_t>(moved));
      memory.end_load(memory.begin() + swizzled(address, static_cast<int>(map.swizzle)), chunk.data(),
                      who_in(load.thread, target), {load.barrier, block.mbarriers.at(load.barrier).phase});
    }
    moved += 16;
  }
  for (const int target : load.targets) {
    MBarrier& barrier = blocks_[static_cast<std::size_t>(target)].mbarriers.at(load.barrier);
    barrier.transaction_bytes -= moved;
    end_phase_if_complete(target, load.barrier, barrier);
  }
}

std::optional<std::string> Machine::unfinished() const {
  for (std::size_t i = 0; launch_.programmatic && i < threads_.size(); ++i) {
    const std::string name = name_of_thread(static_cast<int>(i));
    if (!threads_[i].waited) return name + " has not waited for the launches before";
    if (!blocks_[i / static_cast<std::size_t>(of_block_)].lets_next_begin)
      return name + " and its block do not let the next launch begin";
  }
  if (!loads_.empty()) return fmt::format("block {} ends while TMA loads are under way", block_);
  for (const Thread& thread : threads_) {
    if (!thread.open_calls.empty() || !thread.call_groups.empty())
      return fmt::format("block {} ends while wgmma operations are under way", block_);
    if (!thread.open_stores.empty() || !thread.store_groups.empty())
      return fmt::format("block {} ends while TMA stores or reductions are under way", block_);
  }
  for (std::size_t rank = 0; rank < blocks_.size(); ++rank)
    if (blocks_[rank].arrived_from == cluster_epoch_)
      return fmt::format(
          "block {} may end before another has used its mbarriers or memory: no cluster barrier follows",
          block_ + static_cast<std::int64_t>(rank));
  return std::nullopt;
}

void Machine::wgmma_fence() {
  self().fenced = true;
}

void Machine::wgmma(std::uint32_t* sums, const Wgmma& operation, int line, const std::uint32_t* a) {
  const int first = thread_ / kWarpgroup * kWarpgroup;
  if (first + kWarpgroup > static_cast<int>(threads_.size())) fail("a wgmma of less than 128 threads");
  Warpgroup& group = warpgroup();
  for (int i = first; i < first + kWarpgroup && group.arrived > 0; ++i) {
    const Thread& other = threads_[static_cast<std::size_t>(i)];
    if (other.state != State::kAtWgmma) continue;
    if (other.line == line && other.operation == operation) break;
    fail(fmt::format("comes to the wgmma of line {} with other operands than thread {}", line, i));
  }
  self().state = State::kAtWgmma;
  self().line = line;
  self().sums = sums;
  self().operation = operation;
  self().a = a;
  if (++group.arrived == kWarpgroup) {
    group.arrived = 0;
    issue(first);
    for (int i = first; i < first + kWarpgroup; ++i)
      threads_[static_cast<std::size_t>(i)].state = State::kReady;
    ready_.add(first, first + kWarpgroup);
  }
  yield();
}

void Machine::issue(int first) {
  Warpgroup& group = warpgroup();
  const Wgmma& operation = threads_[static_cast<std::size_t>(first)].operation;
  const auto columns = static_cast<std::size_t>(operation.columns);
  const int registers = operation.columns / 2;
  const auto thread_at = [&](int t) -> Thread& { return threads_[static_cast<std::size_t>(first + t)]; };
  const auto value_of = [&](Sums& sums, int t, int r) -> std::uint32_t& {
    const WgmmaPlace place = place_of_sum(t, r);
    return sums
        .values[static_cast<std::size_t>(place.row) * columns + static_cast<std::size_t>(place.column)];
  };
  std::shared_ptr<Sums>& sums = group.in_flight[thread_at(0).sums];
  const bool fresh = sums == nullptr;
  if (fresh) {
    sums = std::make_shared<Sums>();
    sums->values.resize(kWgmmaRows * columns);
  }
  for (int t = 0; t < kWarpgroup; ++t) {
    if (fresh && !thread_at(t).fenced)
      fail(first + t, "a wgmma without a wgmma.fence behind other uses of its registers");
    if (fresh) sums->registers.push_back(thread_at(t).sums);
    for (int r = 0; r < registers; ++r) {
      std::uint32_t& own = thread_at(t).sums[r];
      if (fresh) {
        value_of(*sums, t, r) = own;
        own = kPoisonedSum;
      } else if (own != kPoisonedSum) {
        fail(first + t, "has written sums that a wgmma is under way for");
      }
    }
  }
  ++sums->operations;
  auto call = std::make_shared<WgmmaCall>();
  call->operation = operation;
  call->sums = sums;
  for (int t = 0; t < kWarpgroup && operation.a_in_registers; ++t) {
    call->a_registers.push_back(thread_at(t).a);
    call->a.insert(call->a.end(), thread_at(t).a, thread_at(t).a + kFragmentRegisters);
  }
  for (const auto& chunks : {operation.chunks_of_a(), operation.chunks_of_b()}) {
    for (const std::uint32_t chunk : chunks)
      if (auto fault = shared().begin_read(shared().begin() + chunk)) fail(first, "a wgmma " + *fault);
  }
  group.calls.push_back(call);
  for (int t = 0; t < kWarpgroup; ++t) thread_at(t).open_calls.push_back(call);
  flops_ += 2.0 * kWgmmaRows * operation.columns * kOperandRowBytes * 8 / bits_of(operation.type);
}

void Machine::wgmma_commit() {
  self().call_groups.push_back(std::move(self().open_calls));
  self().open_calls.clear();
}

void Machine::perform_until(Warpgroup& group, const WgmmaCall& last) {
  const auto bytes_at = [&](std::uint32_t address) {
    return reinterpret_cast<const unsigned char*>(shared().begin() + address);
  };
  while (!last.done) {
    WgmmaCall& call = *group.calls.front();
    multiply(call.operation, call.a, bytes_at, call.sums->values);
    call.done = true;
    group.calls.pop_front();
  }
}

/// Allows the operands of a wgmma to be overwritten. A group of wgmmas belongs to the whole warpgroup
/// ("wgmma.commit_group"). A thread that has waited for the group knows that all of it is done, including the
/// work of other warps. So does every thread that this thread signals.
void Machine::end_reads(WgmmaCall& call) {
  if (std::exchange(call.read, true)) return;
  for (const auto& chunks : {call.operation.chunks_of_a(), call.operation.chunks_of_b()})
    for (const std::uint32_t chunk : chunks) shared().end_read(shared().begin() + chunk);
}

void Machine::wgmma_wait(int pending, int line) {
  Warpgroup& group = warpgroup();
  const int t = thread_ % kWarpgroup;
  while (self().call_groups.size() > static_cast<std::size_t>(pending)) {
    for (const std::shared_ptr<WgmmaCall>& call : self().call_groups.front()) {
      perform_until(group, *call);
      const auto own = call->a.begin() + t * kFragmentRegisters;
      if (call->operation.a_in_registers &&
          !std::equal(own, own + kFragmentRegisters, call->a_registers[static_cast<std::size_t>(t)]))
        fail("has written registers that a wgmma under way reads");
      if (++call->retired == kWarpgroup) {
        --call->sums->operations;
        end_reads(*call);
      } else {
        std::erase_if(self().finished, [](const std::shared_ptr<WgmmaCall>& other) { return other->read; });
        self().finished.push_back(call);
      }
    }
    const Thread::Calls retired = std::move(self().call_groups.front());
    self().call_groups.pop_front();
    // The accumulators belong to this thread again when no operation on them is left.
    for (std::size_t i = 0; i < retired.size(); ++i) {
      const std::shared_ptr<WgmmaCall>& call = retired[i];
      const auto uses = [&](const std::shared_ptr<WgmmaCall>& other) { return other->sums == call->sums; };
      const bool more =
          std::any_of(self().call_groups.begin(), self().call_groups.end(),
                      [&](const Thread::Calls& g) { return std::any_of(g.begin(), g.end(), uses); }) ||
          std::any_of(self().open_calls.begin(), self().open_calls.end(), uses);
      const auto later = retired.begin() + static_cast<std::ptrdiff_t>(i) + 1;
      if (more || std::any_of(later, retired.end(), uses)) continue;
      const Sums& sums = *call->sums;
      const auto columns = static_cast<std::size_t>(call->operation.columns);
      for (int r = 0; r < call->operation.columns / 2; ++r) {
        const WgmmaPlace place = place_of_sum(t, r);
        std::uint32_t& own = sums.registers[static_cast<std::size_t>(t)][r];
        if (own != kPoisonedSum) fail("has written sums that a wgmma is under way for");
        own = sums.values[static_cast<std::size_t>(place.row) * columns +
                          static_cast<std::size_t>(place.column)];
      }
      self().fenced = false;
      std::erase_if(group.in_flight, [&](const auto& each) {
        return each.second == call->sums && call->sums->operations == 0;
      });
    }
  }
  WarpCall together;
  together.what = Collective::kWgmmaWait;
  together.line = line;
  together.count = pending;
  warp_collective(together);
}

void Machine::set_max_registers(int count, bool more) {
  if (count % 8 != 0 || count < 24 || count > 256) fail(fmt::format("setmaxnreg {}", count));
  Warpgroup& mine = warpgroup();
  if (mine.registers != 0 && mine.registers != count)
    fail(fmt::format("setmaxnreg {} in a warpgroup that has {}", count, mine.registers));
  mine.registers = count;
  int total = 0;
  bool all = true;
  const int groups = of_block_ / kWarpgroup;
  for (int i = rank() * groups; i < (rank() + 1) * groups; ++i) {
    const Warpgroup& group = warpgroups_[static_cast<std::size_t>(i)];
    total += group.registers * kWarpgroup;
    all = all && group.registers != 0;
  }
  if (all && total > kRegistersOfCore)
    fail(fmt::format("setmaxnreg.{} asks for {} registers in all, {} exist", more ? "inc" : "dec", total,
                     kRegistersOfCore));
}

}  // namespace lehr::emulator
