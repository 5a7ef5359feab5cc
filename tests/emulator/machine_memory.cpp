// Memory operations of threads: single accesses, asynchronous copies, and the rows of ldmatrix and stmatrix.
#include <fmt/core.h>

#include <algorithm>

#include "machine.h"

namespace lehr::emulator {

void Machine::access(std::uintptr_t address, std::size_t bytes, bool writes) {
  if (on_own_stack(address)) return;
  if (shared().holds(address)) {
    if (auto fault = shared().access(address, bytes, writes, who())) fail(*fault);
    return;
  }
  for (GlobalBuffer& buffer : buffers_) {
    if (!buffer.holds(address)) continue;
    check_waited(buffer, writes ? "writes" : "reads");
    if (auto fault = buffer.access(address, bytes, writes, who(), order_)) fail(*fault);
    return;
  }
  fail(fmt::format("{} {} bytes outside {}", writes ? "writes" : "reads", bytes, nearest(address)));
}

// PTX ISA 9.0, "griddepcontrol": .wait waits until the prerequisite grids have completed. The first
// .launch_dependents of each block counts. A grid must wait before it ends: otherwise it could end before the
// grids that it depends on, and so could every grid that waits for it.
void Machine::griddepcontrol(bool wait) {
  if (!launch_.programmatic) fail("griddepcontrol in a launch that does not overlap others");
  if (wait) {
    self().waited = true;
  } else {
    block().lets_next_begin = true;
  }
}

void Machine::check_waited(const GlobalBuffer& buffer, const char* does) {
  if (launch_.programmatic && !self().waited)
    fail(fmt::format("{} {} before it has waited for the launches before", does, buffer.name()));
}

unsigned Machine::atomic_add(unsigned* counter, unsigned step, unsigned limit) {
  const auto address = reinterpret_cast<std::uintptr_t>(counter);
  const auto holds = [&](const GlobalBuffer& buffer) { return buffer.holds(address); };
  const auto found = std::find_if(buffers_.begin(), buffers_.end(), holds);
  if (found == buffers_.end()) fail("makes an atomic outside " + nearest(address));
  check_waited(*found, "counts in");
  if (auto fault = found->atomic(address)) fail(*fault);
  order_.atomic(who(), address);
  const unsigned old = *counter;
  *counter = old >= limit ? 0 : old + step;
  return old;
}

/// Returns the buffer that the address misses by the least, because most wrong addresses are near a buffer.
std::string Machine::nearest(std::uintptr_t address) const {
  // Shared memory is at this address in all blocks.
  const std::uintptr_t shared = blocks_[0].shared.begin();
  if (address - shared < SharedMemory::kLargest) {
    return fmt::format("shared memory (byte {} of {})", address - shared, launch_.shared_bytes);
  }
  std::string name = "any buffer";
  std::intptr_t distance = 1 << 20;
  for (const GlobalBuffer& buffer : buffers_) {
    const std::intptr_t off =
        static_cast<std::intptr_t>(address - reinterpret_cast<std::uintptr_t>(buffer.bytes().data()));
    const auto size = static_cast<std::intptr_t>(buffer.bytes().size());
    const std::intptr_t away = off < 0 ? -off : off - size;
    if (away >= distance) continue;
    distance = away;
    const auto element = static_cast<std::intptr_t>(buffer.element_bytes());
    name = fmt::format("{} (index {} of {})", buffer.name(), off / element, size / element);
  }
  return name;
}

void Machine::cp_async(void* shared, const void* global, int bytes, int source_bytes) {
  const std::uintptr_t to = reinterpret_cast<std::uintptr_t>(shared);
  if (source_bytes < 0 || source_bytes > bytes)
    fail(fmt::format("cp.async of {} bytes from {}", bytes, source_bytes));
  if (!block().shared.holds(to)) fail("cp.async writes outside shared memory");
  if (source_bytes > 0) {
    const std::uintptr_t from = reinterpret_cast<std::uintptr_t>(global);
    if (from % static_cast<std::uintptr_t>(bytes) != 0)
      fail(fmt::format("cp.async of {} bytes from an unaligned address", bytes));
    access(from, static_cast<std::size_t>(source_bytes), false);
  }
  if (auto fault = block().shared.begin_copy(to, static_cast<std::size_t>(bytes), who()))
    fail("cp.async " + *fault);
  self().open.push_back(
      {to, global, static_cast<std::size_t>(bytes), static_cast<std::size_t>(source_bytes)});
}

void Machine::cp_async_commit() {
  self().groups.push_back(std::move(self().open));
  self().open.clear();
}

void Machine::cp_async_wait(int pending) {
  Thread& t = self();
  while (t.groups.size() > static_cast<std::size_t>(pending)) {
    for (const Copy& copy : t.groups.front()) {
      shared().end_copy(copy.shared, copy.global, copy.source_bytes, copy.bytes, who());
    }
    t.groups.pop_front();
  }
}

/// Moves a row of ldmatrix or stmatrix. Four lanes move it together, whichever lane gave the address.
void Machine::matrix_row(int thread, const WarpCall& call, bool writes) {
  const auto address = reinterpret_cast<std::uintptr_t>(call.row);
  Who all = who();
  all.thread = thread % of_block_;
  all.together = true;
  std::optional<std::string> fault;
  if (!shared().holds(address)) {
    fault = fmt::format("{} 16 bytes outside shared memory, near {}", writes ? "writes" : "reads",
                        nearest(address));
  } else {
    fault = shared().access(address, 16, writes, all);
  }
  if (fault) fail(thread, fmt::format("{} of line {} {}", name_of(call.what), call.line, *fault));
}

void Machine::perform(const Lanes& lanes, int first_thread) {
  const WarpCall& call = *lanes[0];
  switch (call.what) {
    case Collective::kBarrier:
    case Collective::kWgmmaWait:
      return;
    case Collective::kShuffle:
      exchange(lanes);
      return;
    case Collective::kUniform:
      for (std::size_t lane = 1; lane < lanes.size(); ++lane)
        if (*lanes[lane]->a != *call.a)
          fail(first_thread + static_cast<int>(lane), "has another value than lane 0");
      return;
    case Collective::kVote:
      vote(lanes);
      return;
    case Collective::kMma:
      flops_ += multiply(lanes);
      return;
    case Collective::kLoadMatrix:
    case Collective::kStoreMatrix:
      break;
  }
  const bool writes = call.what == Collective::kStoreMatrix;
  for (int matrix = 0; matrix < call.count; ++matrix) {
    Matrix8x8 values{};
    if (writes) values = collect(lanes, matrix);
    for (int row = 0; row < 8; ++row) {
      const int lane = lane_of_row(matrix, row);
      const WarpCall& address = *lanes[static_cast<std::size_t>(lane)];
      matrix_row(first_thread + lane, address, writes);
      auto& line = values[static_cast<std::size_t>(row)];
      if (writes) {
        std::memcpy(address.row, line.data(), sizeof line);
      } else {
        std::memcpy(line.data(), address.row, sizeof line);
      }
    }
    if (!writes) distribute(lanes, matrix, values);
  }
}

}  // namespace lehr::emulator
