#include "memory.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "device_order.h"

namespace lehr::emulator {
namespace {

constexpr unsigned char kCanary = 0xA5;
constexpr unsigned char kPoison = 0xFF;  // four of them are a NaN

std::optional<std::string> misaligned(const char* what, std::uintptr_t address, std::size_t bytes) {
  if ((bytes & (bytes - 1)) == 0 && bytes <= 16 && address % bytes == 0) return std::nullopt;
  return fmt::format("{} of {} bytes is not aligned", what, bytes);
}

/// Flushes as PTX ISA 9.0, "cp.reduce.async.bulk", says: "flushes subnormal inputs and results to
/// sign-preserving zero".
float flushed(float x) {
  return std::fpclassify(x) == FP_SUBNORMAL ? std::copysign(0.0f, x) : x;
}
std::uint32_t add_f32(std::uint32_t a, std::uint32_t b) {
  return std::bit_cast<std::uint32_t>(
      flushed(flushed(std::bit_cast<float>(a)) + flushed(std::bit_cast<float>(b))));
}

}  // namespace

GlobalBuffer::GlobalBuffer(std::string name, std::span<const unsigned char> values, int element_bytes,
                           Role role)
    : name_(std::move(name)),
      role_(role),
      element_bytes_(static_cast<std::size_t>(element_bytes)),
      bytes_(values.size()) {
  storage_.assign(bytes_ + 2 * kCanaryBytes, kCanary);
  if (role_ != Role::kOutput && bytes_ > 0) std::memcpy(data(), values.data(), bytes_);
  begin_launch();
}

void GlobalBuffer::begin_launch() {
  traffic = {};
  if (role_ == Role::kWorkspace) shared_.assign(bytes_ / element_bytes_, {});
  reductions_.clear();
  if (role_ != Role::kOutput) return;
  std::memset(data(), kPoison, bytes_);
  writer_.assign(bytes_ / element_bytes_, 0);
}

std::optional<std::string> GlobalBuffer::access(std::uintptr_t address, std::size_t bytes, bool writes,
                                                const Who& who, const DeviceOrder& order) {
  const std::size_t offset = address - begin();
  const auto place = [&] {
    return fmt::format("{} {}[{}]", writes ? "writes" : "reads", name_, offset / element_bytes_);
  };
  if (offset + bytes > bytes_) {
    return fmt::format("{}, {} bytes beyond its {} elements", place(), offset + bytes - bytes_,
                       bytes_ / element_bytes_);
  }
  if (auto fault = misaligned(writes ? "a write" : "a read", offset, bytes))
    return fmt::format("{}: {}", place(), *fault);
  (writes ? traffic.written_bytes : traffic.read_bytes) += static_cast<std::int64_t>(bytes);
  if (role_ == Role::kInput) return writes ? std::optional(place() + ", an input") : std::nullopt;
  const std::size_t last = (offset + bytes - 1) / element_bytes_;
  for (std::size_t element = offset / element_bytes_; element <= last; ++element) {
    auto fault = role_ == Role::kOutput ? access_output(element, writes, who)
                                        : access_workspace(element, writes, who, order);
    if (fault) return fault;
  }
  return std::nullopt;
}

std::optional<std::string> GlobalBuffer::access_output(std::size_t element, bool writes, const Who& who) {
  const std::int64_t me = 1 + (who.block << 20) + who.thread;
  if (!writes) {
    if (writer_[element] == me) return std::nullopt;
    return fmt::format("reads {}[{}], which it has not written", name_, element);
  }
  if (writer_[element] != 0 && writer_[element] != me) {
    return fmt::format("writes {}[{}], which thread {} of block {} has written", name_, element,
                       (writer_[element] - 1) & ((1 << 20) - 1), (writer_[element] - 1) >> 20);
  }
  writer_[element] = me;
  return std::nullopt;
}

std::optional<std::string> GlobalBuffer::access_workspace(std::size_t element, bool writes, const Who& who,
                                                          const DeviceOrder& order) {
  Shared& shared = shared_[element];
  const char* verb = writes ? "writes" : "reads";
  if (shared.atomic) return fmt::format("{} {}[{}], which is used as a counter", verb, name_, element);
  if (auto fault = why_unordered_reductions(element, who, order))
    return fmt::format("{} {}[{}]: {}", verb, name_, element, *fault);
  if (!writes) {
    // That reduction was ordered after earlier writes.
    if (reduction_into(element) != nullptr) return std::nullopt;
    if (auto fault = order.why_unordered(shared.write, who))
      return fmt::format("reads {}[{}]: {}", name_, element, *fault);
    return std::nullopt;
  }
  const WriteStamp& old = shared.write;
  if (old.block >= 0 && (old.block != who.block || old.thread != who.thread)) {
    return fmt::format("writes {}[{}], which thread {} of block {} has written", name_, element, old.thread,
                       old.block);
  }
  shared.write = order.stamp(who);
  shared.reductions = reductions_.size();
  return std::nullopt;
}

const GlobalBuffer::Reduction* GlobalBuffer::reduction_into(std::size_t element) const {
  for (std::size_t i = reductions_.size(); i-- > shared_[element].reductions;)
    if (reductions_[i].covers(element)) return &reductions_[i];
  return nullptr;
}

std::optional<std::string> GlobalBuffer::why_unordered_reductions(std::size_t element, const Who& who,
                                                                  const DeviceOrder& order) const {
  for (std::size_t i = shared_[element].reductions; i < reductions_.size(); ++i) {
    const Reduction& each = reductions_[i];
    if (!each.covers(element)) continue;
    if (!each.ended)
      return fmt::format("the reduction of thread {} of block {} has not been waited for", each.thread,
                         each.block);
    if (auto fault = order.why_unordered(*each.ended, who)) return fault;
  }
  return std::nullopt;
}

std::optional<std::string> GlobalBuffer::begin_reduction(std::uintptr_t address, std::size_t bytes,
                                                         const Who& who, const DeviceOrder& order) {
  if (role_ != Role::kWorkspace) return fmt::format("adds to {}, which is no workspace", name_);
  const std::size_t offset = address - begin();
  const std::size_t first = offset / element_bytes_;
  if (offset + bytes > bytes_)
    return fmt::format("adds to {}[{}], {} bytes beyond its {} elements", name_, first,
                       offset + bytes - bytes_, bytes_ / element_bytes_);
  if (offset % 16 != 0 || element_bytes_ != 4) return fmt::format("of {}[{}] is not aligned", name_, first);
  const Reduction reduction{first, bytes / element_bytes_, who.block, who.thread, std::nullopt};
  for (std::size_t element = first; reduction.covers(element); ++element) {
    const Shared& shared = shared_[element];
    if (shared.atomic) return fmt::format("adds to {}[{}], which is used as a counter", name_, element);
    if (shared.write.block < 0) continue;  // written by an earlier launch
    if (auto fault = order.why_unordered(shared.write, who))
      return fmt::format("adds to {}[{}]: {}", name_, element, *fault);
  }
  reductions_.push_back(reduction);
  traffic.written_bytes += static_cast<std::int64_t>(bytes);
  return std::nullopt;
}

void GlobalBuffer::end_reduction(std::size_t number, std::span<const unsigned char> addends, bool is_float,
                                 const Who& who, const DeviceOrder& order) {
  Reduction& reduction = reductions_[number];
  auto* const to = static_cast<unsigned char*>(data()) + reduction.first * element_bytes_;
  for (std::size_t i = 0; i < addends.size(); i += 4) {
    std::array<std::uint32_t, 2> bits;
    std::memcpy(&bits[0], to + i, 4);
    std::memcpy(&bits[1], addends.data() + i, 4);
    const std::uint32_t sum = is_float ? add_f32(bits[0], bits[1]) : bits[0] + bits[1];
    std::memcpy(to + i, &sum, 4);
  }
  reduction.ended = order.stamp(who);
}

std::optional<std::string> GlobalBuffer::atomic(std::uintptr_t address) {
  const std::size_t element = (address - begin()) / element_bytes_;
  if (role_ != Role::kWorkspace) return fmt::format("makes an atomic on {}, which is no workspace", name_);
  if (address % 4 != 0 || element_bytes_ != 4) return fmt::format("{}: an atomic is not aligned", name_);
  traffic.written_bytes += 4;
  if (reduction_into(element) != nullptr)
    return fmt::format("uses {}[{}] as a counter, which a reduction adds to", name_, element);
  if (shared_[element].write.block >= 0)
    return fmt::format("uses {}[{}] as a counter, which thread {} of block {} has written", name_, element,
                       shared_[element].write.thread, shared_[element].write.block);
  shared_[element].atomic = true;
  return std::nullopt;
}

std::optional<std::string> GlobalBuffer::damage() const {
  for (std::size_t i = 0; i < kCanaryBytes; ++i) {
    if (storage_[i] != kCanary)
      return fmt::format("{} bytes before {} were overwritten", kCanaryBytes - i, name_);
    if (storage_[storage_.size() - kCanaryBytes + i] != kCanary)
      return fmt::format("byte {} behind {} was overwritten", i, name_);
  }
  return std::nullopt;
}

void SharedMemory::reset(std::int64_t bytes) {
  granules_.assign((static_cast<std::size_t>(bytes) + granule_ - 1) / granule_, Granule{});
  chunks_.assign((static_cast<std::size_t>(bytes) + 15) / 16, Chunk{});
  unfenced_.clear();
  contents_ = memory_;
  std::memset(memory_, kPoison, size());
}

void SharedMemory::park() {
  parked_.assign(memory_, memory_ + size());
  contents_ = parked_.data();
}

void SharedMemory::unpark() {
  std::memcpy(memory_, parked_.data(), size());
  contents_ = memory_;
}

void SharedMemory::async_proxy_fence(const Who& who) {
  const auto thread = static_cast<std::size_t>(who.thread);
  if (thread >= unfenced_.size()) return;
  for (const std::size_t number : unfenced_[thread]) --chunks_[number].unfenced;
  unfenced_[thread].clear();
}

std::optional<std::string> SharedMemory::access(std::uintptr_t address, std::size_t bytes, bool writes,
                                                const Who& who) {
  if (auto fault = touch(address, bytes, writes, who)) return fault;
  if (!writes) return std::nullopt;
  const auto thread = static_cast<std::size_t>(who.thread);
  if (thread >= unfenced_.size()) unfenced_.resize(thread + 1);
  std::vector<std::size_t>& mine = unfenced_[thread];
  const std::size_t number = (address - begin()) / 16;
  if (mine.empty() || mine.back() != number) {
    mine.push_back(number);
    ++chunk_at(address).unfenced;
  }
  return std::nullopt;
}

std::optional<std::string> SharedMemory::touch(std::uintptr_t address, std::size_t bytes, bool writes,
                                               const Who& who) {
  const std::size_t offset = address - begin();
  const auto place = [&] {
    return fmt::format("{} shared memory at byte {}", writes ? "writes" : "reads", offset);
  };
  if (offset + bytes > size()) return fmt::format("{}, beyond its {} bytes", place(), size());
  if (auto fault = misaligned(writes ? "a write" : "a read", address, bytes))
    return fmt::format("{}: {}", place(), *fault);
  (writes ? traffic.written_bytes : traffic.read_bytes) += static_cast<std::int64_t>(bytes);
  if (writes) {
    Chunk& chunk = chunk_at(address);
    if (chunk.readers > 0) return place() + ": an operation that has not been waited for reads it";
    chunk.loaded = false;
  }
  for (std::size_t i = offset / granule_; i <= (offset + bytes - 1) / granule_; ++i) {
    if (auto fault = access_granule(granules_[i], writes, who)) return fmt::format("{}: {}", place(), *fault);
  }
  return std::nullopt;
}

SharedMemory::Visit SharedMemory::visit_of(const Who& who) {
  return {who.together ? kSeveral : who.thread, 1u << who.warp, who.epoch, who.warp_epoch, who.tick};
}

bool SharedMemory::concurrent(const Visit& earlier, const Who& who) {
  if (earlier.epoch != who.epoch) return false;
  const std::uint32_t own = 1u << who.warp;
  if (earlier.warps == own)
    return earlier.warp_epoch == who.warp_epoch && (who.together || earlier.thread != who.thread);
  for (std::uint32_t rest = earlier.warps; rest != 0; rest &= rest - 1) {
    const auto warp = static_cast<std::size_t>(std::countr_zero(rest));
    // If there are several visitors, only the latest tick is kept. The visit of the own warp at that tick may
    // be another thread's.
    if (rest & -rest & own ? who.tick <= earlier.tick : who.seen[warp] < earlier.tick) return true;
  }
  return false;
}

bool SharedMemory::told(const Visit& readers, const Who& who) {
  for (std::uint32_t rest = readers.warps; rest != 0; rest &= rest - 1)
    if (who.told[std::countr_zero(rest)] < readers.tick) return false;
  return true;
}

std::string SharedMemory::race(const Visit& earlier, const char* verb) {
  const std::string who = !std::has_single_bit(earlier.warps) ? "threads of several warps have"
                          : earlier.thread == kSeveral
                              ? fmt::format("threads of warp {} have", std::countr_zero(earlier.warps))
                              : fmt::format("thread {} has", earlier.thread);
  return fmt::format("a race: {} {} it since the last barrier", who, verb);
}

std::optional<std::string> SharedMemory::access_granule(Granule& granule, bool writes, const Who& who) {
  if (granule.copier != kNobody) {
    return fmt::format("thread {}'s asynchronous copy into it has not been waited for", granule.copier);
  }
  if (!writes && granule.write.thread == kNobody) return "nobody has written it";
  const bool landed = granule.load.number >= 0 && who.phases != nullptr &&
                      who.phases->contains(granule.load.barrier) &&
                      who.phases->at(granule.load.barrier) > granule.load.number;
  if (!landed && concurrent(granule.write, who)) return race(granule.write, "written");
  if (writes) {
    if (concurrent(granule.read, who)) return race(granule.read, "read");
    if (granule.from_afar == published_) return "another block has read it since the last cluster barrier";
    granule.write = visit_of(who);
    granule.load = {};
    return std::nullopt;
  }
  // Readers between two barriers are kept as one Visit. Only a later writer needs them, and it is concurrent
  // with the Visit if it is concurrent with any of them.
  const Visit earlier = granule.read;
  granule.read = visit_of(who);
  if (earlier.epoch != who.epoch) return std::nullopt;
  if (earlier.warps != granule.read.warps) {
    granule.read.warps |= earlier.warps;
    granule.read.tick = std::max(granule.read.tick, earlier.tick);
  } else if (earlier.warp_epoch == who.warp_epoch && earlier.thread != who.thread) {
    granule.read.thread = kSeveral;
  }
  return std::nullopt;
}

std::optional<std::string> SharedMemory::read_from_afar(std::uintptr_t address, std::size_t bytes, void* to) {
  const std::size_t offset = address - begin();
  const std::string place = fmt::format("reads shared memory at byte {}", offset);
  if (!holds(address) || offset + bytes > size())
    return fmt::format("{}, beyond its {} bytes", place, size());
  if (auto fault = misaligned("a read", address, bytes)) return fmt::format("{}: {}", place, *fault);
  for (std::size_t i = offset / granule_; i <= (offset + bytes - 1) / granule_; ++i) {
    Granule& granule = granules_[i];
    if (granule.copier != kNobody) return place + ": a copy into it has not been waited for";
    if (granule.write.thread == kNobody) return place + ": nobody has written it";
    if (granule.write.epoch >= published_) return place + ": no cluster barrier is behind its write";
    granule.from_afar = published_;
  }
  traffic.read_bytes += static_cast<std::int64_t>(bytes);
  std::memcpy(to, contents_ + offset, bytes);
  return std::nullopt;
}

std::optional<std::string> SharedMemory::begin_copy(std::uintptr_t address, std::size_t bytes,
                                                    const Who& who) {
  if (auto fault = access(address, bytes, true, who)) return fault;
  poison(address, bytes, who);
  return std::nullopt;
}

void SharedMemory::poison(std::uintptr_t address, std::size_t bytes, const Who& who) {
  const std::size_t offset = address - begin();
  for (std::size_t i = offset / granule_; i < (offset + bytes) / granule_; ++i)
    granules_[i].copier = who.thread;
  std::memset(contents_ + offset, kPoison, bytes);
}

std::optional<std::string> SharedMemory::begin_load(std::uintptr_t address, const Who& who) {
  if (address % 16 != 0 || !holds(address)) return "is not 16 aligned bytes of shared memory";
  const std::size_t first = (address - begin()) / granule_;
  for (std::size_t i = first; i < first + 16 / granule_; ++i)
    if (told(granules_[i].read, who)) granules_[i].read = {};
  if (auto fault = touch(address, 16, true, who)) return fault;
  poison(address, 16, who);
  return std::nullopt;
}

void SharedMemory::end_load(std::uintptr_t address, const void* from, const Who& who,
                            const LoadPhase& phase) {
  end_copy(address, from, 16, 16, who);
  const std::size_t offset = address - begin();
  for (std::size_t i = offset / granule_; i < (offset + 16) / granule_; ++i) granules_[i].load = phase;
  chunk_at(address).loaded = true;
}

std::optional<std::string> SharedMemory::begin_read(std::uintptr_t address) {
  const std::size_t offset = address - begin();
  if (!holds(address)) return fmt::format("reads byte {} of {} of shared memory", offset, size());
  if (granules_[offset / granule_].copier != kNobody)
    return fmt::format("reads shared memory at byte {}: a load into it has not been waited for", offset);
  Chunk& chunk = chunk_at(address);
  if (!chunk.loaded) return fmt::format("reads shared memory at byte {}: no load has written it", offset);
  ++chunk.readers;
  traffic.read_bytes += 16;
  return std::nullopt;
}

std::optional<std::string> SharedMemory::begin_store(std::uintptr_t address, const Who& who) {
  if (address % 16 != 0 || !holds(address)) return "is not of 16 aligned bytes of shared memory";
  if (auto fault = access(address, 16, false, who)) return fault;
  Chunk& chunk = chunk_at(address);
  if (chunk.unfenced > 0)
    return fmt::format("reads shared memory at byte {}: {} of its writers made no fence for the async proxy",
                       address - begin(), chunk.unfenced);
  ++chunk.readers;
  return std::nullopt;
}

void SharedMemory::end_copy(std::uintptr_t address, const void* from, std::size_t source_bytes,
                            std::size_t bytes, const Who& who) {
  const std::size_t offset = address - begin();
  std::memset(contents_ + offset, 0, bytes);
  if (source_bytes > 0) std::memcpy(contents_ + offset, from, source_bytes);
  for (std::size_t i = offset / granule_; i < (offset + bytes) / granule_; ++i) {
    granules_[i].copier = kNobody;
    granules_[i].write = visit_of(who);  // the wait makes it visible to this thread, a barrier to the others
  }
}

}  // namespace lehr::emulator
