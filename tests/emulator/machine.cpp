// Fibers are Boost.Context's bare contexts. After a fault a thread's fiber is abandoned, and nothing unwinds.
#include "machine.h"

#include <fmt/core.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <stdexcept>

/// Dynamic shared memory, with the name that emitted text declares.
extern "C" {
alignas(1024) unsigned char lehr_shared[lehr::emulator::SharedMemory::kLargest];

#if defined(__SANITIZE_ADDRESS__)
/// Turns off leak detection: after a fault a thread's fiber is abandoned, with everything that it holds.
const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif
}

namespace lehr::emulator {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kStackBytes = 64 * 1024;
// Guard below each stack, so that an overflow crashes at once.
constexpr std::size_t kGuardBytes = 4096;
// Largest portable cluster: CUDA C++ Programming Guide 13.0, "Thread Block Clusters".
constexpr std::int64_t kLargestCluster = 8;

thread_local Machine* running = nullptr;

/// Returns why the launch is impossible, or why it cannot be emulated.
std::optional<std::string> why_not(const ir::Launch& launch) {
  if (launch.cluster == 1) return std::nullopt;
  if (launch.cluster < 1 || launch.cluster > kLargestCluster || launch.grid[0] % launch.cluster != 0)
    return fmt::format("a grid of {} blocks in clusters of {}", launch.grid[0], launch.cluster);
  if (launch.block[0] * launch.block[1] * launch.block[2] % kWarpgroup != 0)
    return "blocks in clusters have whole warpgroups here";
  return std::nullopt;
}

}  // namespace

struct FiberEntry {
  /// Runs a fiber: stores the scheduler's context, runs the kernel, and marks the fiber as ended.
  static void main(context::transfer_t from) {
    Machine& machine = *static_cast<Machine*>(from.data);
    machine.scheduler_stack_ = arrived(nullptr);
    machine.scheduler_ = from.fctx;
    (*machine.entry_)();
    machine.self().state = Machine::State::kDone;
    machine.yield();
  }
};

Machine::Machine(std::vector<GlobalBuffer>& buffers, const ir::Launch& launch, int granule,
                 const Schedule& schedule)
    : buffers_(buffers),
      launch_(launch),
      of_block_(static_cast<int>(launch.block[0] * launch.block[1] * launch.block[2])),
      ready_(schedule) {
  const auto blocks = static_cast<std::size_t>(launch.cluster);
  blocks_.assign(blocks, Block(SharedMemory(lehr_shared, granule)));
  const std::size_t count = blocks * static_cast<std::size_t>(of_block_);
  threads_.resize(count);
  void* memory = mmap(nullptr, count * kStackBytes, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) throw std::runtime_error("no memory for the emulated threads' stacks");
  stacks_ = static_cast<unsigned char*>(memory);
  for (std::size_t i = 0; i < count; ++i) mprotect(stacks_ + i * kStackBytes, kGuardBytes, PROT_NONE);
}

Machine::~Machine() {
  munmap(stacks_, threads_.size() * kStackBytes);
}

Machine* Machine::current() {
  return running;
}

std::optional<std::string> Machine::run(const std::function<void()>& entry) {
  if (launch_.shared_bytes > static_cast<std::int64_t>(sizeof lehr_shared)) {
    return fmt::format("the launch asks for {} bytes of shared memory, more than {}", launch_.shared_bytes,
                       sizeof lehr_shared);
  }
  if (auto fault = why_not(launch_)) return fault;
  entry_ = &entry;
  running = this;
  const std::int64_t clusters = launch_.grid[0] * launch_.grid[1] * launch_.grid[2] / launch_.cluster;
  for (const std::int64_t cluster : ready_.blocks(clusters)) {
    block_ = cluster * launch_.cluster;
    run_cluster();
    if (fault_) break;
  }
  running = nullptr;
  for (const GlobalBuffer& buffer : buffers_) {
    if (!fault_) fault_ = buffer.damage();
  }
  return fault_;
}

void Machine::run_cluster() {
  const int count = static_cast<int>(threads_.size());
  for (std::size_t rank = blocks_.size(); rank-- > 0;) {
    Block& block = blocks_[rank];
    block.shared.reset(launch_.shared_bytes);
    block.epoch = 0;
    block.arrived_from = -1;
    block.lets_next_begin = false;
    block.named_barriers.clear();
    block.mbarriers.clear();
    block.told.assign((static_cast<std::size_t>(of_block_) + kLanes - 1) / kLanes, -1);
    if (rank > 0) block.shared.park();
  }
  shown_ = 0;
  cluster_epoch_ = 0;
  warps_.assign(static_cast<std::size_t>((count + kLanes - 1) / kLanes), Warp{});
  const std::size_t warps = warps_.size() / blocks_.size();
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    warps_[w].seen.assign(warps, -1);
    warps_[w].seen[w % warps] = 0;
  }
  warpgroups_.assign(static_cast<std::size_t>((count + kWarpgroup - 1) / kWarpgroup), Warpgroup{});
  loads_.clear();
  ready_.begin(of_block_, static_cast<int>(blocks_.size()));
  order_.begin_blocks(block_, blocks_.size(), of_block_);
  for (int i = 0; i < count; ++i) start(i);
  ready_.add(0, count);
  do {
    while (!ready_.empty()) {
      thread_ = ready_.take();
      show_shared();
      void* fake = leaving(stack_of(thread_));
      self().context = context::jump_fcontext(self().context, this).fctx;
      arrived(fake);
      if (fault_) return;
      while (ready_.empty() && !loads_.empty()) {  // all threads wait or have ended
        const Load load = loads_.front();
        loads_.pop_front();
        land(load);
      }
    }
  } while (release_barriers());
  if (!fault_) fault_ = unfinished();
}

void Machine::start(int thread) {
  Thread& t = threads_[static_cast<std::size_t>(thread)];
  t = Thread();
  const Stack stack = stack_of(thread);
  forget_frames(stack);
  t.context = context::make_fcontext(stacks_ + (static_cast<std::size_t>(thread) + 1) * kStackBytes,
                                     stack.bytes, FiberEntry::main);
}

Stack Machine::stack_of(int thread) const {
  return {stacks_ + static_cast<std::size_t>(thread) * kStackBytes + kGuardBytes, kStackBytes - kGuardBytes};
}

bool Machine::release_barriers() {
  bool all_ended = true;
  bool released = release_cluster_barrier();
  for (int rank = 0; rank < static_cast<int>(blocks_.size()) && !released; ++rank) {
    all_ended = all_ended && has_ended(rank);
    released = release_barrier_of(rank);
  }
  if (!released && !all_ended) fault_ = stuck();
  return released;
}

const char* Machine::waits_at(const Thread& thread) {
  switch (thread.state) {
    case State::kAtBarrier:
      return "block barrier";
    case State::kAtClusterBarrier:
      return "cluster barrier";
    case State::kAtNamedBarrier:
      return "named barrier";
    case State::kAtMBarrier:
      return "mbarrier";
    case State::kAtWgmma:
      return "wgmma";
    default:
      return name_of(thread.call->what);
  }
}

/// Lists the different points at which threads wait, each with its first thread.
std::string Machine::stuck() const {
  std::vector<std::pair<State, int>> seen;
  std::string words;
  for (std::size_t i = 0; i < threads_.size() && seen.size() < 4; ++i) {
    const Thread& t = threads_[i];
    const std::pair<State, int> place = {t.state, t.state == State::kDone ? 0 : t.line};
    if (std::find(seen.begin(), seen.end(), place) != seen.end()) continue;
    seen.push_back(place);
    words += seen.size() == 1 ? "" : ", ";
    words += blocks_.size() > 1 ? name_of_thread(static_cast<int>(i)) + " " : fmt::format("thread {} ", i);
    if (t.state == State::kDone) {
      words += "has ended";
    } else {
      words += fmt::format("waits at the {} of line {}", waits_at(t), t.line);
    }
  }
  return fmt::format("block {}: threads diverge: {}", block_, words);
}

void Machine::yield() {
  void* fake = leaving(scheduler_stack_);
  scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
  arrived(fake);
}

void Machine::fail(int thread, const std::string& what) {
  fault_ = fmt::format("{}: {}", name_of_thread(thread), what);
  for (;;) yield();  // the scheduler sees the fault and never resumes this fiber
}

void Machine::block_barrier(int line) {
  self().state = State::kAtBarrier;
  self().line = line;
  yield();
}

// PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: barrier". There are sixteen
// barriers, and __syncthreads is number 0. A barrier counts whole warps.
void Machine::named_barrier(int id, int threads, int line) {
  if (id < 1 || id > 15 || threads < kLanes || threads % kLanes != 0)
    fail(fmt::format("comes to named barrier {} for {} threads in line {}", id, threads, line));
  NamedBarrier& barrier = block().named_barriers[id];
  if (barrier.arrived > 0 && barrier.threads != threads)
    fail(fmt::format("comes to named barrier {} for {} threads, others wait for {}", id, threads,
                     barrier.threads));
  barrier.threads = threads;
  self().state = State::kAtNamedBarrier;
  self().line = line;
  self().named_barrier = id;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    const std::size_t warps = warps_.size() / blocks_.size();
    Warp* const of_block = &warps_[static_cast<std::size_t>(rank()) * warps];
    std::vector<int> seen(warps, -1);
    std::vector<bool> came(warps, false);
    const int first = rank() * of_block_;
    for (int i = first; i < first + of_block_; ++i) {
      Thread& thread = threads_[static_cast<std::size_t>(i)];
      if (thread.state != State::kAtNamedBarrier || thread.named_barrier != id) continue;
      thread.state = State::kReady;
      ready_.add(i, i + 1);
      came[static_cast<std::size_t>((i - first) / kLanes)] = true;
    }
    for (std::size_t w = 0; w < warps; ++w)
      for (std::size_t of = 0; came[w] && of < seen.size(); ++of)
        seen[of] = std::max(seen[of], of_block[w].seen[of]);
    for (std::size_t w = 0; w < warps; ++w) {
      if (!came[w]) continue;
      of_block[w].seen = seen;
      ++of_block[w].seen[w];
      ++of_block[w].epoch;
    }
  }
  yield();
}

void Machine::warp_collective(WarpCall& call) {
  const int first = thread_ / kLanes * kLanes;
  const int last = std::min(first + kLanes, static_cast<int>(threads_.size()));
  Warp& warp = warps_[static_cast<std::size_t>(first / kLanes)];
  if (last - first < kLanes && call.what != Collective::kBarrier)
    fail(fmt::format("{} of line {} in a warp of {} lanes", name_of(call.what), call.line, last - first));
  for (int i = first; i < last && warp.arrived > 0; ++i) {  // the waiting threads agree with one another
    const Thread& other = threads_[static_cast<std::size_t>(i)];
    if (other.state != State::kInCollective) continue;
    if (same_instruction(*other.call, call)) break;
    fail(fmt::format("comes to the {} of line {}, while lane {} of its warp waits at the {} of line {}",
                     name_of(call.what), call.line, i - first, name_of(other.call->what), other.line));
  }
  self().state = State::kInCollective;
  self().line = call.line;
  self().call = &call;
  if (++warp.arrived == last - first) {
    if (call.what == Collective::kBarrier) {
      ++warp.epoch;
    } else {
      Lanes lanes{};
      for (int i = first; i < last; ++i)
        lanes[static_cast<std::size_t>(i - first)] = threads_[static_cast<std::size_t>(i)].call;
      perform(lanes, first);
    }
    warp.arrived = 0;
    for (int i = first; i < last; ++i) threads_[static_cast<std::size_t>(i)].state = State::kReady;
    ready_.add(first, last);
  }
  yield();
}

namespace {

std::array<unsigned, 3> split(std::int64_t flat, const std::array<std::int64_t, 3>& extents) {
  return {static_cast<unsigned>(flat % extents[0]), static_cast<unsigned>(flat / extents[0] % extents[1]),
          static_cast<unsigned>(flat / (extents[0] * extents[1]))};
}
std::array<unsigned, 3> narrow(const std::array<std::int64_t, 3>& extents) {
  return {static_cast<unsigned>(extents[0]), static_cast<unsigned>(extents[1]),
          static_cast<unsigned>(extents[2])};
}

}  // namespace

std::array<unsigned, 3> Machine::thread_index() const {
  return split(thread_ % of_block_, launch_.block);
}
std::array<unsigned, 3> Machine::block_index() const {
  return split(block_ + rank(), launch_.grid);
}
std::array<unsigned, 3> Machine::block_dim() const {
  return narrow(launch_.block);
}
std::array<unsigned, 3> Machine::grid_dim() const {
  return narrow(launch_.grid);
}

bool Machine::on_own_stack(std::uintptr_t address) const {
  const std::uintptr_t begin =
      reinterpret_cast<std::uintptr_t>(stacks_) + static_cast<std::size_t>(thread_) * kStackBytes;
  return address >= begin && address < begin + kStackBytes;
}

}  // namespace lehr::emulator
