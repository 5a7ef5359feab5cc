#include "measure/cuda/cuda_arena.h"

#include <algorithm>
#include <utility>

namespace lehr {
namespace {

/// Bytes before and after each piece that no candidate may change: one vector store of a whole warp.
constexpr std::int64_t kGuardBytes = 512;
static_assert(kGuardBytes % CudaArena::kAlignment == 0);
constexpr unsigned char kGuardByte = 0xA5;

std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

CudaStatus CudaArena::place(const CudaDriver& driver, std::vector<std::int64_t> bytes, std::int64_t sets) {
  bytes_ = std::move(bytes);
  offsets_.clear();
  set_bytes_ = 0;
  for (const std::int64_t each : bytes_) {
    offsets_.push_back(set_bytes_ + kGuardBytes);
    set_bytes_ = round_up(offsets_.back() + each + kGuardBytes, kAlignment);
  }
  const CudaStatus status = memory_.allocate(driver, set_bytes_ * sets);
  return status.ok() ? memory_.fill(0, kGuardByte, memory_.bytes()) : status;
}

CudaAddress CudaArena::address(std::size_t piece, std::int64_t set) const {
  return memory_.address() + static_cast<CudaAddress>(place_of(piece, set));
}

CudaStatus CudaArena::fill(std::size_t piece, std::int64_t set, unsigned char value) const {
  return memory_.fill(place_of(piece, set), value, bytes_[piece]);
}

CudaStatus CudaArena::write(std::size_t piece, std::int64_t set, const void* from) const {
  return memory_.write(place_of(piece, set), from, bytes_[piece]);
}

CudaStatus CudaArena::read(std::size_t piece, std::int64_t set, void* to) const {
  return memory_.read(place_of(piece, set), to, bytes_[piece]);
}

CudaStatus CudaArena::poke(std::size_t piece, std::int64_t at, const void* from, std::int64_t count) const {
  return memory_.write(place_of(piece, 0) + at, from, count);
}

CudaStatus CudaArena::peek(std::size_t piece, std::int64_t at, void* to, std::int64_t count) const {
  return memory_.read(place_of(piece, 0) + at, to, count);
}

CudaStatus CudaArena::find_damage(std::optional<Damage>& damage) const {
  std::vector<unsigned char> guard(kGuardBytes);
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    for (const bool behind : {false, true}) {
      const std::int64_t at = behind ? offsets_[i] + bytes_[i] : offsets_[i] - kGuardBytes;
      if (const CudaStatus status = memory_.read(at, guard.data(), kGuardBytes); !status.ok()) return status;
      const auto hit =
          std::find_if(guard.begin(), guard.end(), [](unsigned char byte) { return byte != kGuardByte; });
      if (hit == guard.end()) continue;
      const std::int64_t distance = behind ? hit - guard.begin() : kGuardBytes - (hit - guard.begin());
      damage = Damage{i, distance, behind};
      return {};
    }
  }
  return {};
}

}  // namespace lehr
