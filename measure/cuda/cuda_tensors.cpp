#include "measure/cuda/cuda_tensors.h"

#include <fmt/core.h>

#include <algorithm>

#include "measure/core/check.h"
#include "measure/core/element.h"
#include "measure/core/input_checksum.h"

namespace lehr {
namespace {

/// Maximum number of sets. A sample would not use more (kMaxLaunches in cuda_harness.cpp).
constexpr std::int64_t kMaxSets = 512;

}  // namespace

CudaStatus CudaTensors::place(const CudaDriver& driver, const Problem& problem, std::int64_t rotated_bytes) {
  outputs_ = outputs_of(problem);
  roles_.clear();
  kept_.clear();
  std::vector<std::int64_t> bytes;
  std::int64_t data_bytes = 0;
  for (const Argument& argument : problem.arguments) {
    roles_.push_back(argument.role);
    bytes.push_back(argument.bytes());
    data_bytes += bytes.back();
  }
  sets_ = std::clamp<std::int64_t>(rotated_bytes / std::max<std::int64_t>(data_bytes, 1) + 1, 1, kMaxSets);
  CudaStatus status = arena_.place(driver, bytes, sets_);
  while (status.out_of_memory() && sets_ > 1) {
    sets_ = (sets_ + 1) / 2;
    status = arena_.place(driver, bytes, sets_);
  }
  if (!status.ok()) return status;
  return problem.made() ? fill_sets(problem) : reset_outputs();
}

CudaStatus CudaTensors::fill_sets(const Problem& problem) {
  CudaStatus status;
  sums_.assign(arena_.count(), 0);
  for (std::size_t i = 0; i < arena_.count(); ++i) {
    std::vector<unsigned char> bytes = problem.arguments[i].values;
    bytes.resize(static_cast<std::size_t>(arena_.bytes(i)), kPoisonByte);
    sums_[i] = input_checksum(bytes.data(), bytes.size());
    for (std::int64_t set = 0; set < sets_ && status.ok(); ++set) status = arena_.write(i, set, bytes.data());
  }
  return status.ok() ? keep() : status;
}

bool CudaTensors::is_output(std::size_t tensor) const {
  return roles_[tensor] == Role::kOut || roles_[tensor] == Role::kInOut;
}

const void* CudaTensors::by_value(std::size_t tensor) const {
  return roles_[tensor] == Role::kScalar ? kept_.at(tensor).data() : nullptr;
}

CudaStatus CudaTensors::keep() {
  CudaStatus status;
  for (std::size_t i = 0; i < roles_.size() && status.ok(); ++i)
    if (roles_[i] == Role::kInOut || roles_[i] == Role::kScalar) status = read(i, kept_[i]);
  return status;
}

CudaStatus CudaTensors::reset_outputs() const {
  CudaStatus status;
  for (const std::size_t output : outputs_) {
    const auto kept = kept_.find(output);
    if (!status.ok()) break;
    status = kept == kept_.end() ? arena_.fill(output, 0, kPoisonByte)
                                 : arena_.write(output, 0, kept->second.data());
  }
  return status;
}

CudaStatus CudaTensors::read(std::size_t tensor, std::vector<unsigned char>& bytes) const {
  bytes.resize(static_cast<std::size_t>(arena_.bytes(tensor)));
  return arena_.read(tensor, 0, bytes.data());
}

CudaStatus CudaTensors::find_damage_of_guards(std::string& text) const {
  std::optional<CudaArena::Damage> damage;
  const CudaStatus status = arena_.find_damage(damage);
  if (damage) text = text_of(*damage, fmt::format("argument {}", damage->piece));
  return status;
}

CudaStatus CudaTensors::find_damage(std::string& text) const {
  CudaStatus status = find_damage_of_guards(text);
  std::vector<unsigned char> bytes;
  for (std::size_t i = 0; i < arena_.count() && status.ok() && text.empty(); ++i) {
    if (is_output(i)) continue;
    status = read(i, bytes);
    if (status.ok() && input_checksum(bytes.data(), bytes.size()) != sums_[i])
      text = fmt::format("it modified its input (argument {})", i);
  }
  return status;
}

std::string text_of(const CudaArena::Damage& damage, const std::string& piece) {
  return fmt::format("it wrote outside {}: {} bytes {}", piece, damage.distance,
                     damage.behind ? "behind its end" : "before its begin");
}

}  // namespace lehr
