// Uses mmap'ed buffers. Canaries and inputs are compared after a checked call.
#include "measure/host/host_buffers.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <utility>

#include "base/error.h"
#include "measure/core/check.h"
#include "measure/core/element.h"
#include "measure/core/input_checksum.h"

namespace lehr {
namespace {

bool is_poisoned(unsigned char byte) {
  return byte == kPoisonByte;
}

Fault outside(std::string text) {
  return Fault{{FailureKind::kWrongResult, std::move(text), {}}, true};
}

}  // namespace

GuardedBytes::GuardedBytes(std::size_t bytes) : bytes_(bytes) {
  mapped_ = (bytes + kZone - 1) / kZone * kZone + 2 * kZone;
  if (mapped_ < bytes) throw std::bad_alloc();
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  base_ = static_cast<unsigned char*>(memory);
  // Canaries hold the poison as well. So a candidate that reads past an input computes with NaNs and is
  // detected.
  std::memset(base_, kPoisonByte, mapped_);
}

GuardedBytes::GuardedBytes(GuardedBytes&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)), bytes_(other.bytes_), mapped_(other.mapped_) {}

GuardedBytes::~GuardedBytes() {
  if (base_ != nullptr) munmap(base_, mapped_);
}

void GuardedBytes::poison() {
  std::memset(data(), kPoisonByte, bytes_);
}

std::string GuardedBytes::damage() const {
  const auto broken = [](unsigned char byte) { return !is_poisoned(byte); };
  const unsigned char* after = data() + bytes_;
  const unsigned char* end = base_ + mapped_;
  const unsigned char* hit = std::find_if(after, end, broken);
  if (hit != end) return fmt::format("{} bytes after its end", hit - after);
  for (const unsigned char* at = data(); at != base_; --at) {
    if (broken(at[-1])) return fmt::format("{} bytes before its start", data() - at + 1);
  }
  return "";
}

HostBuffers::HostBuffers(Problem problem) : problem_(std::move(problem)) {
  outputs_of(problem_);
  for (std::size_t i = 0; i < problem_.arguments.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(problem_.arguments[i].bytes());
    pointers_.push_back(buffers_.emplace_back(bytes).data());
    sums_.push_back(0);
    fill(i);
  }
}

void HostBuffers::fill(std::size_t i) {
  Argument& argument = problem_.arguments[i];
  if (!argument.values.empty()) std::memcpy(pointers_[i], argument.values.data(), argument.values.size());
  if (argument.is_output()) return;
  sums_[i] = input_checksum(buffers_[i].data(), buffers_[i].size());
  argument.values = {};  // from now on these bytes are the input
}

void HostBuffers::replace(Problem problem) {
  outputs_of(problem);
  CHECK(problem.arguments.size() == buffers_.size(), "another problem's arguments");
  problem_ = std::move(problem);
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    CHECK(static_cast<std::size_t>(problem_.arguments[i].bytes()) == buffers_[i].size(),
          "argument {} of another size", i);
    fill(i);
  }
}

std::vector<FreshBytes> HostBuffers::fresh() const {
  std::vector<FreshBytes> found;
  for (std::size_t i = buffers_.size(); i-- > 0;)
    if (problem_.arguments[i].fresh) found.push_back({buffers_[i].data(), buffers_[i].size()});
  return found;
}

void HostBuffers::reset_outputs() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!problem_.arguments[i].is_output()) continue;
    buffers_[i].poison();
    fill(i);
  }
}

std::string HostBuffers::damage() const {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    const bool output = problem_.arguments[i].is_output();
    const std::string where = buffers_[i].damage();
    if (!where.empty())
      return fmt::format("wrote outside its {} (argument {}), {}", output ? "output" : "input", i, where);
    if (!output && input_checksum(buffers_[i].data(), buffers_[i].size()) != sums_[i])
      return fmt::format("modified its input (argument {})", i);
  }
  return "";
}

std::variant<Checked, Fault> HostBuffers::verdict_of(std::size_t i, std::int64_t rows) const {
  const Argument& output = problem_.arguments[i];
  const GuardedBytes& bytes = buffers_[i];
  const bool fewer = rows > 0 && rows < problem_.rows;
  if (fewer) {
    const auto written = static_cast<std::size_t>(output.bytes() / problem_.rows * rows);
    const bool untouched =
        output.values.empty() ? std::all_of(bytes.data() + written, bytes.data() + bytes.size(), &is_poisoned)
                              : std::memcmp(bytes.data() + written, output.values.data() + written,
                                            bytes.size() - written) == 0;
    if (!untouched) return outside(fmt::format("wrote output behind the last of {} rows", rows));
  }
  const Comparison comparison = compare_output(output, named_output(problem_, i), bytes.data(), 1,
                                               fewer ? output.elements / problem_.rows * rows : 0);
  if (!comparison.fault.empty()) return Fault{{FailureKind::kWrongResult, comparison.fault, {}}, false};
  return Checked{comparison.max_error};
}

std::variant<Checked, Fault> HostBuffers::verdict(std::int64_t rows) const {
  if (const std::string damaged = damage(); !damaged.empty()) return outside(damaged);
  Checked all;
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    if (!problem_.arguments[i].is_output()) continue;
    auto one = verdict_of(i, rows);
    if (std::holds_alternative<Fault>(one)) return one;
    all.max_error = std::max(all.max_error, std::get<Checked>(one).max_error);
  }
  return all;
}

std::variant<Checked, Fault> HostBuffers::verdict_left() const {
  const bool in_place =
      std::ranges::any_of(problem_.arguments, [](const Argument& each) { return each.role == Role::kInOut; });
  if (!in_place) return verdict();
  if (const std::string damaged = damage(); !damaged.empty()) return outside(damaged);
  return Checked{};
}

std::vector<RunOutput> HostBuffers::output() const {
  std::vector<RunOutput> outputs;
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (problem_.arguments[i].is_output())
      outputs.push_back({{buffers_[i].data(), buffers_[i].data() + buffers_[i].size()},
                         size_of(problem_.arguments[i].type)});
  return outputs;
}

}  // namespace lehr
