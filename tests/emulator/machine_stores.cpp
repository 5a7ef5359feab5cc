// Stores of the tensor memory accelerator from shared memory (PTX ISA 9.0, "cp.async.bulk.tensor",
// "cp.reduce.async.bulk", "cp.async.bulk.wait_group").
#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "machine.h"
#include "tests/support/box_elements.h"

namespace lehr::emulator {

void Machine::tma_store(const void* shared, std::size_t param, const BoxPlace& place) {
  const std::uint32_t address = shared_address(shared);
  const ir::TensorMap& map = map_of(param, address, place, "store from");
  GlobalBuffer& buffer = buffers_[param];
  const auto size = static_cast<std::int64_t>(buffer.element_bytes());
  const std::int64_t per_chunk = 16 / size;
  for (std::int64_t first = 0; first < ir::box_elements(map); first += per_chunk) {
    const auto offset = address + static_cast<std::uint32_t>(first * size);
    const std::uintptr_t chunk = block().shared.begin() + swizzled(offset, static_cast<int>(map.swizzle));
    if (auto fault = block().shared.begin_store(chunk, who())) fail("a TMA store " + *fault);
    self().open_stores.reads.push_back(chunk);
    for (std::int64_t e = 0; e < per_chunk; ++e) {
      const std::optional<std::int64_t> element = element_of_box(map, place, first + e);
      if (!element) continue;
      auto* to = static_cast<unsigned char*>(buffer.data()) + *element * size;
      if (auto fault = buffer.access(reinterpret_cast<std::uintptr_t>(to), static_cast<std::size_t>(size),
                                     true, who(), order_))
        fail("a TMA store " + *fault);
      std::memcpy(to, reinterpret_cast<const unsigned char*>(chunk) + e * size,
                  static_cast<std::size_t>(size));
    }
  }
}

void Machine::tma_reduce(const void* shared, const void* global, int bytes, bool is_float) {
  const std::uint32_t from = shared_address(shared);
  const auto to = reinterpret_cast<std::uintptr_t>(global);
  if (bytes <= 0 || bytes % 16 != 0) fail(fmt::format("a TMA reduction of {} bytes", bytes));
  const auto size = static_cast<std::size_t>(bytes);
  const auto found = std::find_if(buffers_.begin(), buffers_.end(),
                                  [&](const GlobalBuffer& buffer) { return buffer.holds(to); });
  if (found == buffers_.end()) fail("a TMA reduction outside " + nearest(to));
  check_waited(*found, "adds to");
  const std::uintptr_t begin = block().shared.begin() + from;
  for (std::uintptr_t chunk = begin; chunk < begin + size; chunk += 16) {
    if (auto fault = block().shared.begin_store(chunk, who())) fail("a TMA reduction " + *fault);
    self().open_stores.reads.push_back(chunk);
  }
  if (auto fault = found->begin_reduction(to, size, who(), order_)) fail("a TMA reduction " + *fault);
  // No thread may write these bytes until they have been read, so they can be read now.
  const auto* const addends = reinterpret_cast<const unsigned char*>(begin);
  self().open_stores.reductions.push_back({static_cast<std::size_t>(found - buffers_.begin()),
                                           found->reductions() - 1,
                                           {addends, addends + size},
                                           is_float});
}

void Machine::tma_store_commit() {
  self().store_groups.push_back(std::move(self().open_stores));
  self().open_stores = {};
}

void Machine::tma_store_wait(int pending, bool complete) {
  std::deque<StoreGroup>& groups = self().store_groups;
  const std::size_t newest = std::min(groups.size(), static_cast<std::size_t>(pending));
  for (std::size_t i = 0; i + newest < groups.size(); ++i) {
    for (const std::uintptr_t chunk : groups[i].reads) shared().end_read(chunk);
    groups[i].reads.clear();
    if (!complete) continue;
    for (const Reduction& each : groups[i].reductions)
      buffers_[each.param].end_reduction(each.number, each.addends, each.is_float, who(), order_);
    groups[i].reductions.clear();
  }
  while (groups.size() > newest && groups.front().empty()) groups.pop_front();
}

}  // namespace lehr::emulator
