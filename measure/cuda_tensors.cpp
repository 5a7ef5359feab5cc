// One allocation holds all sets.
#include "measure/cuda_tensors.h"

#include <fmt/format.h>

#include <algorithm>

#include "measure/check.h"
#include "measure/element.h"

namespace lehr {
namespace {

/// Bytes before and behind every tensor that no candidate may change: one vector store of a whole warp.
constexpr std::int64_t kGuardBytes = 512;
static_assert(kGuardBytes % CudaTensors::kAlignment == 0);
constexpr unsigned char kGuardByte = 0xA5;
/// Sets beyond this many would not be used within a sample (cuda_harness.cpp, kMaxLaunches).
constexpr std::int64_t kMaxSets = 512;

std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

CudaStatus CudaTensors::place(const CudaDriver& driver, const Problem& problem, std::int64_t rotated_bytes) {
  output_ = output_of(problem);
  offsets_.clear();
  bytes_.clear();
  std::int64_t end = 0;
  std::int64_t data_bytes = 0;
  for (const ProblemTensor& tensor : problem.tensors) {
    bytes_.push_back(tensor.elements * size_of(tensor.type));
    offsets_.push_back(end + kGuardBytes);
    data_bytes += bytes_.back();
    end = round_up(offsets_.back() + bytes_.back() + kGuardBytes, kAlignment);
  }
  set_bytes_ = end;
  sets_ = std::clamp<std::int64_t>(rotated_bytes / std::max<std::int64_t>(data_bytes, 1) + 1, 1, kMaxSets);
  CudaStatus status = arena_.allocate(driver, set_bytes_ * sets_);
  while (status.out_of_memory() && sets_ > 1) {
    sets_ = (sets_ + 1) / 2;
    status = arena_.allocate(driver, set_bytes_ * sets_);
  }
  return status.ok() ? fill_sets(problem) : status;
}

CudaStatus CudaTensors::fill_sets(const Problem& problem) const {
  CudaStatus status = arena_.fill(0, kGuardByte, arena_.bytes());
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    const ProblemTensor& tensor = problem.tensors[i];
    std::vector<unsigned char> bytes(static_cast<std::size_t>(bytes_[i]), kPoisonByte);
    if (!tensor.output) store_elements(tensor.type, tensor.values, bytes.data());
    for (std::int64_t set = 0; set < sets_ && status.ok(); ++set)
      status = arena_.write(set * set_bytes_ + offsets_[i], bytes.data(), bytes_[i]);
  }
  return status;
}

CudaAddress CudaTensors::address(std::size_t tensor, std::int64_t set) const {
  return arena_.address() + static_cast<CudaAddress>(set * set_bytes_ + offsets_[tensor]);
}

CudaStatus CudaTensors::poison_output() const {
  return arena_.fill(offsets_[output_], kPoisonByte, bytes_[output_]);
}

CudaStatus CudaTensors::read_output(std::vector<unsigned char>& bytes) const {
  bytes.resize(static_cast<std::size_t>(bytes_[output_]));
  return arena_.read(offsets_[output_], bytes.data(), bytes_[output_]);
}

CudaStatus CudaTensors::find_damage(std::string& text) const {
  std::vector<unsigned char> guard(kGuardBytes);
  for (std::size_t i = 0; i < offsets_.size(); ++i) {
    for (const bool behind : {false, true}) {
      const std::int64_t at = behind ? offsets_[i] + bytes_[i] : offsets_[i] - kGuardBytes;
      if (const CudaStatus status = arena_.read(at, guard.data(), kGuardBytes); !status.ok()) return status;
      const auto hit =
          std::find_if(guard.begin(), guard.end(), [](unsigned char byte) { return byte != kGuardByte; });
      if (hit == guard.end()) continue;
      const std::int64_t distance = behind ? hit - guard.begin() : kGuardBytes - (hit - guard.begin());
      text = fmt::format("it wrote outside argument {}: {} bytes {}", i, distance,
                         behind ? "behind its end" : "before its begin");
      return {};
    }
  }
  return {};
}

}  // namespace lehr
