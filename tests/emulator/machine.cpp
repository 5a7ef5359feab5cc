// Fibers are Boost.Context's bare contexts: a thread that did something wrong is left where it is, nothing
// unwinds.
#include "machine.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <boost/context/detail/fcontext.hpp>
#include <stdexcept>

/// Dynamic shared memory, under the name by which emitted text declares it.
extern "C" {
alignas(1024) unsigned char lehr_shared[lehr::emulator::SharedMemory::kLargest];

#if defined(__SANITIZE_ADDRESS__)
/// A thread that did something wrong is left where it is, and what it holds with it.
const char* __asan_default_options() {
  return "detect_leaks=0";
}
#endif
}

namespace lehr::emulator {
namespace {

namespace context = boost::context::detail;

constexpr std::size_t kStackBytes = 64 * 1024;
constexpr std::size_t kGuardBytes = 4096;  // below each stack: an overflow is a crash, not a surprise

thread_local Machine* running = nullptr;

}  // namespace

struct FiberEntry {
  /// First words of a fiber: remembers the scheduler's context, runs the kernel, says that it is done.
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
    : buffers_(buffers), launch_(launch), shared_(lehr_shared, granule), ready_(schedule) {
  const std::size_t count = static_cast<std::size_t>(launch.block[0] * launch.block[1] * launch.block[2]);
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
  entry_ = &entry;
  running = this;
  for (const std::int64_t block : ready_.blocks(launch_.grid[0] * launch_.grid[1] * launch_.grid[2])) {
    block_ = block;
    run_block();
    if (fault_) break;
  }
  running = nullptr;
  for (const GlobalBuffer& buffer : buffers_) {
    if (!fault_) fault_ = buffer.damage();
  }
  return fault_;
}

void Machine::run_block() {
  const int count = static_cast<int>(threads_.size());
  shared_.reset(launch_.shared_bytes);
  shared_.has_stores = std::any_of(buffers_.begin(), buffers_.end(), [](const GlobalBuffer& buffer) {
    return buffer.map && buffer.role() == GlobalBuffer::Role::kOutput;
  });
  epoch_ = 0;
  warps_.assign(static_cast<std::size_t>((count + kLanes - 1) / kLanes), Warp{});
  for (std::size_t w = 0; w < warps_.size(); ++w) {
    warps_[w].seen.assign(warps_.size(), -1);
    warps_[w].seen[w] = 0;
  }
  named_barriers_.clear();
  warpgroups_.assign(static_cast<std::size_t>((count + kWarpgroup - 1) / kWarpgroup), Warpgroup{});
  mbarriers_.clear();
  loads_.clear();
  ready_.begin(count);
  order_.begin_block(count);
  for (int i = 0; i < count; ++i) start(i);
  ready_.add(0, count);
  do {
    while (!ready_.empty()) {
      thread_ = ready_.take();
      void* fake = leaving(stack_of(thread_));
      self().context = context::jump_fcontext(self().context, this).fctx;
      arrived(fake);
      if (fault_) return;
      while (ready_.empty() && !loads_.empty()) {  // everybody waits, or has ended
        const Load load = loads_.front();
        loads_.pop_front();
        land(load);
      }
    }
  } while (release_block_barrier());
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

bool Machine::release_block_barrier() {
  const auto is = [](State state) { return [state](const Thread& t) { return t.state == state; }; };
  if (std::all_of(threads_.begin(), threads_.end(), is(State::kDone))) return false;
  const int line = threads_[0].line;
  if (!std::all_of(threads_.begin(), threads_.end(),
                   [&](const Thread& t) { return t.state == State::kAtBarrier && t.line == line; })) {
    fault_ = stuck();
    return false;
  }
  for (Thread& t : threads_) t.state = State::kReady;
  ready_.add(0, static_cast<int>(threads_.size()));
  ++epoch_;
  ++barriers_;
  return true;
}

/// Names the first thread of each place at which threads are.
std::string Machine::stuck() const {
  std::vector<std::pair<State, int>> seen;
  std::string words;
  for (std::size_t i = 0; i < threads_.size() && seen.size() < 4; ++i) {
    const Thread& t = threads_[i];
    const std::pair<State, int> place = {t.state, t.state == State::kDone ? 0 : t.line};
    if (std::find(seen.begin(), seen.end(), place) != seen.end()) continue;
    seen.push_back(place);
    words += fmt::format("{}thread {} ", seen.size() == 1 ? "" : ", ", i);
    if (t.state == State::kDone) {
      words += "has ended";
    } else {
      words += fmt::format("waits at the {} of line {}",
                           t.state == State::kAtBarrier        ? "block barrier"
                           : t.state == State::kAtNamedBarrier ? "named barrier"
                           : t.state == State::kAtMBarrier     ? "mbarrier"
                           : t.state == State::kAtWgmma        ? "wgmma"
                                                               : name_of(t.call->what),
                           t.line);
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
  fault_ = fmt::format("block {} thread {}: {}", block_, thread, what);
  for (;;) yield();  // the scheduler sees the fault and never comes back
}

void Machine::block_barrier(int line) {
  self().state = State::kAtBarrier;
  self().line = line;
  yield();
}

// PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: barrier": sixteen of them, of which
// __syncthreads is number 0; it counts whole warps.
void Machine::named_barrier(int id, int threads, int line) {
  if (id < 1 || id > 15 || threads < kLanes || threads % kLanes != 0)
    fail(fmt::format("comes to named barrier {} for {} threads in line {}", id, threads, line));
  NamedBarrier& barrier = named_barriers_[id];
  if (barrier.arrived > 0 && barrier.threads != threads)
    fail(fmt::format("comes to named barrier {} for {} threads, others wait for {}", id, threads,
                     barrier.threads));
  barrier.threads = threads;
  self().state = State::kAtNamedBarrier;
  self().line = line;
  self().named_barrier = id;
  if (++barrier.arrived == threads) {
    barrier.arrived = 0;
    std::vector<int> seen(warps_.size(), -1);
    std::vector<bool> came(warps_.size(), false);
    for (std::size_t i = 0; i < threads_.size(); ++i) {
      Thread& thread = threads_[i];
      if (thread.state != State::kAtNamedBarrier || thread.named_barrier != id) continue;
      thread.state = State::kReady;
      ready_.add(static_cast<int>(i), static_cast<int>(i) + 1);
      came[i / kLanes] = true;
    }
    for (std::size_t w = 0; w < warps_.size(); ++w)
      for (std::size_t of = 0; came[w] && of < seen.size(); ++of)
        seen[of] = std::max(seen[of], warps_[w].seen[of]);
    for (std::size_t w = 0; w < warps_.size(); ++w) {
      if (!came[w]) continue;
      warps_[w].seen = seen;
      ++warps_[w].seen[w];
      ++warps_[w].epoch;
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
  for (int i = first; i < last && warp.arrived > 0; ++i) {  // those that wait agree with one another
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
  return split(thread_, launch_.block);
}
std::array<unsigned, 3> Machine::block_index() const {
  return split(block_, launch_.grid);
}
std::array<unsigned, 3> Machine::block_dim() const {
  return narrow(launch_.block);
}
std::array<unsigned, 3> Machine::grid_dim() const {
  return narrow(launch_.grid);
}

Who Machine::who() const {
  const int number = thread_ / kLanes;
  const Warp& warp = warps_[static_cast<std::size_t>(number)];
  Who result{thread_, number, epoch_, warp.epoch, block_};
  result.tick = warp.seen[static_cast<std::size_t>(number)];
  result.seen = warp.seen.data();
  return result;
}

bool Machine::on_own_stack(std::uintptr_t address) const {
  const std::uintptr_t begin =
      reinterpret_cast<std::uintptr_t>(stacks_) + static_cast<std::size_t>(thread_) * kStackBytes;
  return address >= begin && address < begin + kStackBytes;
}

}  // namespace lehr::emulator
