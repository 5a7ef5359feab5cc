// mmap'ed buffers; canaries and inputs are compared after the checked run.
#include "measure/host/host_buffers.h"

#include <sys/mman.h>

#include <algorithm>
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
  // Canaries hold the poison as well: a candidate that reads past an input computes with NaN, and is found
  // out.
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

HostBuffers::HostBuffers(Problem problem) : problem_(std::move(problem)), output_(output_of(problem_)) {
  for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
    const ProblemTensor& tensor = problem_.tensors[i];
    const auto bytes =
        static_cast<std::size_t>(tensor.elements) * static_cast<std::size_t>(size_of(tensor.type));
    pointers_.push_back(tensors_.emplace_back(bytes).data());
    sums_.push_back(0);
    fill(i);
  }
}

void HostBuffers::fill(std::size_t i) {
  ProblemTensor& tensor = problem_.tensors[i];
  store_elements(tensor.type, tensor.values, tensors_[i].data());
  sums_[i] = tensor.output ? 0 : input_checksum(tensors_[i].data(), tensors_[i].size());
  tensor.values = {};  // from now on the bytes are the inputs
}

void HostBuffers::replace(Problem problem) {
  CHECK(output_of(problem) == output_ && problem.tensors.size() == tensors_.size(),
        "another problem's tensors");
  problem_ = std::move(problem);
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const ProblemTensor& tensor = problem_.tensors[i];
    CHECK(static_cast<std::size_t>(tensor.elements * size_of(tensor.type)) == tensors_[i].size(),
          "tensor {} of another size", i);
    fill(i);
  }
}

std::vector<FreshBytes> HostBuffers::fresh() const {
  const std::vector<TensorSpec> specs = tensors_of(problem_.workload);
  std::vector<FreshBytes> found;
  for (std::size_t i = specs.size(); i-- > 0;) {
    const bool goes_along =
        specs[i].role == TensorRole::kOperand && specs[i].elements == specs[output_].elements;
    if (specs[i].is_output() || goes_along || (specs[i].role == TensorRole::kInput && !specs[i].constant))
      found.push_back({tensors_[i].data(), tensors_[i].size()});
  }
  return found;
}

void HostBuffers::poison_output() {
  tensors_[output_].poison();
}

std::string HostBuffers::damage() const {
  for (std::size_t i = 0; i < tensors_.size(); ++i) {
    const std::string where = tensors_[i].damage();
    if (!where.empty())
      return fmt::format("wrote outside its {} (argument {}), {}", i == output_ ? "output" : "input", i,
                         where);
    if (i != output_ && input_checksum(tensors_[i].data(), tensors_[i].size()) != sums_[i])
      return fmt::format("modified its input (argument {})", i);
  }
  return "";
}

std::variant<Checked, Fault> HostBuffers::verdict_on(const Problem& problem) const {
  const Comparison comparison = compare_output(problem, tensors_[output_].data());
  if (!comparison.fault.empty()) return Fault{{FailureKind::kWrongResult, comparison.fault, {}}, false};
  return Checked{comparison.max_error};
}

std::variant<Checked, Fault> HostBuffers::verdict() const {
  const std::string damaged = damage();
  return damaged.empty() ? verdict_on(problem_) : outside(damaged);
}

std::variant<Checked, Fault> HostBuffers::verdict_of_rows(std::int64_t rows) const {
  const std::int64_t all = rows_of(problem_.workload);
  if (rows == all) return verdict();
  if (const std::string damaged = damage(); !damaged.empty()) return outside(damaged);
  const GuardedBytes& output = tensors_[output_];
  const std::size_t written = output.size() / static_cast<std::size_t>(all) * static_cast<std::size_t>(rows);
  if (!std::all_of(output.data() + written, output.data() + output.size(), &is_poisoned))
    return outside(fmt::format("wrote output behind the last of {} rows", rows));
  return verdict_on(first_rows(problem_, rows));
}

RunOutput HostBuffers::output() const {
  const GuardedBytes& bytes = tensors_[output_];
  return {{bytes.data(), bytes.data() + bytes.size()}, size_of(problem_.tensors[output_].type)};
}

}  // namespace lehr
