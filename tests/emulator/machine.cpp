// Fibers are Boost.Context's bare contexts: a thread that did something wrong is left where it is, nothing
// unwinds.
#include "machine.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <boost/context/detail/fcontext.hpp>
#include <stdexcept>

/// Dynamic shared memory, under the name by which emitted text declares it; the largest opt-in size of sm_90.
extern "C" {
alignas(1024) unsigned char lehr_shared[232448];
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
    machine.scheduler_ = from.fctx;
    (*machine.entry_)();
    machine.threads_[static_cast<std::size_t>(machine.thread_)].state = Machine::State::kDone;
    machine.yield();
  }
};

Machine::Machine(std::vector<GlobalBuffer>& buffers, const ir::Launch& launch, Order order)
    : buffers_(buffers), launch_(launch), order_(order), shared_(lehr_shared) {
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
  const std::int64_t blocks = launch_.grid[0] * launch_.grid[1] * launch_.grid[2];
  for (block_ = 0; block_ < blocks && !fault_; ++block_) run_block();
  running = nullptr;
  for (const GlobalBuffer& buffer : buffers_) {
    if (!fault_) fault_ = buffer.damage();
  }
  return fault_;
}

void Machine::run_block() {
  shared_.reset(launch_.shared_bytes);
  epoch_ = 0;
  for (int i = 0; i < static_cast<int>(threads_.size()); ++i) start(i);
  while (step()) {
  }
}

void Machine::start(int thread) {
  Thread& t = threads_[static_cast<std::size_t>(thread)];
  t = Thread();
  t.context = context::make_fcontext(stacks_ + (static_cast<std::size_t>(thread) + 1) * kStackBytes,
                                     kStackBytes - kGuardBytes, FiberEntry::main);
}

bool Machine::step() {
  const int count = static_cast<int>(threads_.size());
  for (int i = 0; i < count; ++i) {
    thread_ = order_ == Order::kForward ? i : count - 1 - i;
    Thread& t = threads_[static_cast<std::size_t>(thread_)];
    if (t.state != State::kReady) continue;
    t.context = context::jump_fcontext(t.context, this).fctx;
    if (fault_) return false;
  }
  int waiting = -1;
  int done = -1;
  for (int i = 0; i < count; ++i)
    (threads_[static_cast<std::size_t>(i)].state == State::kDone ? done : waiting) = i;
  if (waiting < 0) return false;
  const int line = threads_[static_cast<std::size_t>(waiting)].line;
  if (done >= 0) {
    fault_ = fmt::format("block {}: thread {} waits at the barrier of line {}, thread {} has ended", block_,
                         waiting, line, done);
    return false;
  }
  for (int i = 0; i < count; ++i) {
    Thread& t = threads_[static_cast<std::size_t>(i)];
    if (t.line != line) {
      fault_ =
          fmt::format("block {}: thread {} waits at the barrier of line {}, thread {} at that of line {}",
                      block_, waiting, line, i, t.line);
      return false;
    }
    t.state = State::kReady;
  }
  ++epoch_;
  ++barriers_;
  return true;
}

void Machine::yield() {
  scheduler_ = context::jump_fcontext(scheduler_, nullptr).fctx;
}

void Machine::fail(const std::string& what) {
  fault_ = fmt::format("block {} thread {}: {}", block_, thread_, what);
  for (;;) yield();  // the scheduler sees the fault and never comes back
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

bool Machine::on_own_stack(std::uintptr_t address) const {
  const std::uintptr_t begin =
      reinterpret_cast<std::uintptr_t>(stacks_) + static_cast<std::size_t>(thread_) * kStackBytes;
  return address >= begin && address < begin + kStackBytes;
}

void Machine::access(std::uintptr_t address, std::size_t bytes, bool writes) {
  if (on_own_stack(address)) return;
  if (shared_.holds(address)) {
    if (auto fault = shared_.access(address, bytes, writes, who())) fail(*fault);
    return;
  }
  for (GlobalBuffer& buffer : buffers_) {
    if (!buffer.holds(address)) continue;
    if (auto fault = buffer.access(address, bytes, writes, who())) fail(*fault);
    return;
  }
  // Name the nearest buffer: an index that is off by a little is the usual case.
  std::string nearest = "any buffer";
  std::uintptr_t distance = 1 << 20;
  for (GlobalBuffer& buffer : buffers_) {
    const auto begin = reinterpret_cast<std::uintptr_t>(buffer.data());
    const std::intptr_t off = static_cast<std::intptr_t>(address - begin);
    const std::uintptr_t size = buffer.values().size() * sizeof(float);
    const std::uintptr_t away =
        off < 0 ? static_cast<std::uintptr_t>(-off) : static_cast<std::uintptr_t>(off) - size;
    if (away < distance) {
      distance = away;
      nearest = fmt::format("{} (index {} of {})", buffer.name(),
                            off / static_cast<std::intptr_t>(sizeof(float)), size / sizeof(float));
    }
  }
  const std::intptr_t shared_off =
      static_cast<std::intptr_t>(address - reinterpret_cast<std::uintptr_t>(lehr_shared));
  if (shared_off >= 0 && shared_off < static_cast<std::intptr_t>(sizeof lehr_shared)) {
    nearest = fmt::format("shared memory (byte {} of {})", shared_off, launch_.shared_bytes);
  }
  fail(fmt::format("{} {} bytes outside {}", writes ? "writes" : "reads", bytes, nearest));
}

void Machine::block_barrier(int line) {
  Thread& t = threads_[static_cast<std::size_t>(thread_)];
  t.state = State::kAtBarrier;
  t.line = line;
  yield();
}

void Machine::cp_async(void* shared, const void* global, int bytes, int source_bytes) {
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(shared);
  if (source_bytes < 0 || source_bytes > bytes)
    fail(fmt::format("cp.async of {} bytes from {}", bytes, source_bytes));
  if (!shared_.holds(to)) fail("cp.async writes outside shared memory");
  if (source_bytes > 0) {
    const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(global);
    if (from % static_cast<std::uintptr_t>(bytes) != 0)
      fail(fmt::format("cp.async of {} bytes from an unaligned address", bytes));
    access(from, static_cast<std::size_t>(source_bytes), false);
  }
  if (auto fault = shared_.begin_copy(to, static_cast<std::size_t>(bytes), who())) fail("cp.async " + *fault);
  threads_[static_cast<std::size_t>(thread_)].open.push_back(
      {to, global, static_cast<std::size_t>(bytes), static_cast<std::size_t>(source_bytes)});
}

void Machine::cp_async_commit() {
  Thread& t = threads_[static_cast<std::size_t>(thread_)];
  t.groups.push_back(std::move(t.open));
  t.open.clear();
}

void Machine::cp_async_wait(int pending) {
  Thread& t = threads_[static_cast<std::size_t>(thread_)];
  while (t.groups.size() > static_cast<std::size_t>(pending)) {
    for (const Copy& copy : t.groups.front()) {
      shared_.end_copy(copy.shared, copy.global, copy.source_bytes, copy.bytes, who());
    }
    t.groups.pop_front();
  }
}

}  // namespace lehr::emulator
