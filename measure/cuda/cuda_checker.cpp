#include "measure/cuda/cuda_checker.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <span>

#include "base/error.h"
#include "measure/core/element.h"
#include "measure/cuda/checker_drill.h"
#include "workload/inputs.h"
#include "workload/reference.h"

namespace lehr {
namespace {

// Any number.
constexpr std::uint64_t kSumSeed = 0x6c656872;
/// Of a launch: watchdogs of displays end those of two seconds (NVIDIA, "CUDA on Windows and Linux:
/// timeouts").
constexpr double kLongestLaunchUs = 0.2e6;
/// Of all that is expected; where it takes longer, some bands have to do, as on the host.
constexpr double kLongestUs = 0.5e6;
// CUDA C++ Programming Guide 13.0, "Technical Specifications".
constexpr std::int64_t kMostBandsOfALaunch = 65535;
/// Products that the host adds up to prove the plain kernel: a tenth of a second.
constexpr std::int64_t kProvenProducts = 10'000'000;
/// Of an input, that are looked at.
constexpr std::int64_t kSampledElements = 1000;
constexpr int kSampledParts = 8;
/// Places of jobs in their memory, in bytes.
constexpr int kJobBytes = 64;
enum JobPlace { kInputsPlace, kSumPlace, kComparePlace, kTotalPlace, kJobPlaces };

/// All bands: the first, the last, then the others in an order without a pattern.
std::vector<std::int32_t> band_order(std::int64_t bands) {
  std::vector<std::int32_t> order(static_cast<std::size_t>(bands));
  std::iota(order.begin(), order.end(), 0);
  if (order.size() < 3) return order;
  std::swap(order[1], order.back());
  std::sort(order.begin() + 2, order.end(), [](std::int32_t a, std::int32_t b) {
    return mix64(static_cast<std::uint64_t>(a)) < mix64(static_cast<std::uint64_t>(b));
  });
  return order;
}

std::string file_at(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

}  // namespace

std::string CudaChecker::text_of(CudaStatus status) const {
  return status.ok() ? "" : driver_->text_of(status);
}

std::string CudaChecker::open(const CudaDriver& driver, const CudaStream& stream, const DeviceCheck& check,
                              const Problem& problem) {
  *this = CudaChecker();
  driver_ = &driver;
  stream_ = &stream;
  check_ = check;
  output_ = output_of(problem);
  elements_ = problem.tensors[output_].elements;
  compare_ = compare_entry(problem.tensors[output_].type);
  const std::string kernels = file_at(check.kernels), plain = file_at(check.plain.path);
  if (kernels.empty() || plain.empty()) return "its kernels cannot be read";
  std::vector<std::string> entries = {"lehr_sum", "lehr_total", compare_};
  for (const ProblemTensor& tensor : problem.tensors)
    if (!tensor.output) entries.push_back(inputs_entry(tensor.type));
  CudaStatus status;
  for (const std::string& entry : entries)
    if (status.ok() && !kernels_.contains(entry))
      status = kernels_[entry].load(driver, kernels.data(), entry);
  if (status.ok()) status = plain_.load(driver, plain.data(), check.plain.entry);
  if (status.ok() && check.plain.launch.shared_bytes > kCudaDefaultSharedBytes)
    status = plain_.allow_dynamic_shared(check.plain.launch.shared_bytes);
  if (status.ok()) status = partials_.allocate(driver, std::int64_t{kCheckBlocks} * (kPartialWords + 1) * 8);
  if (status.ok()) status = jobs_.allocate(driver, kJobPlaces * kJobBytes);
  if (status.ok()) status = result_.allocate(driver, sizeof(CheckResult));
  const std::vector<std::int32_t> order = band_order(check.bands);
  const auto bytes = static_cast<std::int64_t>(order.size() * sizeof(std::int32_t));
  if (status.ok()) status = bands_.allocate(driver, bytes);
  if (status.ok()) status = bands_.write(0, order.data(), bytes);
  return text_of(status);
}

CudaStatus CudaChecker::launch(const std::string& entry, int blocks,
                               std::vector<CudaAddress> addresses) const {
  ir::Launch shape;
  shape.grid = {blocks, 1, 1};
  shape.block = {kCheckThreads, 1, 1};
  shape.shared_bytes = kCheckThreads * static_cast<int>(sizeof(std::uint64_t));
  std::vector<void*> arguments;
  for (CudaAddress& address : addresses) arguments.push_back(&address);
  return stream_->launch(kernels_.at(entry), shape, arguments.data());
}

CudaStatus CudaChecker::write_job(int place, const void* job, std::size_t bytes) const {
  return jobs_.write(place * kJobBytes, job, static_cast<std::int64_t>(bytes));
}

/// Of what run_compare() or lehr_sum have left.
CudaStatus CudaChecker::total(bool compares, CheckResult& result) const {
  const TotalJob job = {++number_, compares ? std::uint64_t{kCheckBlocks} : 0, kCheckBlocks};
  const CudaAddress sums = partials_.address() + std::uint64_t{kCheckBlocks} * kPartialWords * 8;
  CudaStatus status = result_.fill(0, 0, sizeof result);
  if (status.ok()) status = write_job(kTotalPlace, &job, sizeof job);
  if (status.ok())
    status =
        launch("lehr_total", 1,
               {partials_.address(), sums, jobs_.address() + kTotalPlace * kJobBytes, result_.address()});
  if (status.ok()) status = stream_->wait();
  if (status.ok()) status = result_.read(0, &result, sizeof result);
  return status;
}

CudaStatus CudaChecker::sum(CudaAddress from, const SumJob& job, std::uint64_t& sum) const {
  const CudaAddress sums = partials_.address() + std::uint64_t{kCheckBlocks} * kPartialWords * 8;
  CheckResult result;
  CudaStatus status = write_job(kSumPlace, &job, sizeof job);
  if (status.ok())
    status = launch("lehr_sum", kCheckBlocks, {from, jobs_.address() + kSumPlace * kJobBytes, sums});
  if (status.ok()) status = total(false, result);
  // A total of another check, or of none, is no sum of these bytes.
  sum = result.number == number_ ? result.sum : ~result.sum;
  return status;
}

SumJob CudaChecker::set_job() const {
  const auto hole = static_cast<std::uint64_t>(tensors_->address(output_, 0) - tensors_->address_of_set_0());
  return {kSumSeed, static_cast<std::uint64_t>(tensors_->set_bytes() / 8), hole,
          hole + static_cast<std::uint64_t>(tensors_->bytes(output_))};
}

CudaStatus CudaChecker::run_compare(CheckResult& result) const {
  const CompareJob job = {static_cast<std::uint64_t>(elements_), tolerance_, kSumSeed};
  const SumJob whole = set_job();
  const CudaAddress sums = partials_.address() + std::uint64_t{kCheckBlocks} * kPartialWords * 8;
  CudaStatus status = write_job(kComparePlace, &job, sizeof job);
  if (status.ok()) status = write_job(kSumPlace, &whole, sizeof whole);
  if (status.ok())
    status = launch(compare_, kCheckBlocks,
                    {tensors_->address(output_, 0), expected().address(),
                     jobs_.address() + kComparePlace * kJobBytes, partials_.address()});
  if (status.ok())
    status = launch("lehr_sum", kCheckBlocks,
                    {tensors_->address_of_set_0(), jobs_.address() + kSumPlace * kJobBytes, sums});
  return status.ok() ? total(true, result) : status;
}

std::variant<DeviceFindings, CudaStatus> CudaChecker::check() const {
  CheckResult result;
  if (const CudaStatus status = run_compare(result); !status.ok()) return status;
  DeviceFindings seen;
  seen.output = findings_of(result, elements_);
  const bool mine = result.number == number_;
  seen.inputs_whole = mine && result.sum == sums_.set;
  seen.expected_whole =
      mine && result.expected_sum == sums_.expected && seen.output.compared == expected_count_;
  return seen;
}

std::variant<bool, CudaStatus> CudaChecker::inputs_whole() const {
  std::uint64_t now = 0;
  if (const CudaStatus status = sum(tensors_->address_of_set_0(), set_job(), now); !status.ok())
    return status;
  return now == sums_.set;
}

CudaStatus CudaChecker::sum_of_tensor(std::size_t tensor, std::uint64_t& found) const {
  const auto bytes = static_cast<std::uint64_t>(tensors_->bytes(tensor));
  return sum(tensors_->address(tensor, 0), {kSumSeed, (bytes + 7) / 8, bytes, ~std::uint64_t{0}}, found);
}

CudaStatus CudaChecker::is_whole(std::size_t tensor, bool& whole) const {
  std::uint64_t now = 0;
  const CudaStatus status = sum_of_tensor(tensor, now);
  whole = now == sums_.tensors[tensor];
  return status;
}

CudaStatus CudaChecker::expected_at(std::int64_t element, float& value) const {
  return expected().read(element * 4, &value, sizeof value);
}

CudaStatus CudaChecker::set_expected(std::int64_t element, float value) const {
  return expected().write(element * 4, &value, sizeof value);
}

CudaStatus CudaChecker::read_expected(std::vector<float>& values) const {
  values.resize(static_cast<std::size_t>(elements_));
  return expected().read(0, values.data(), elements_ * 4);
}

CudaStatus CudaChecker::make_inputs_on_device(const Problem& problem) {
  const std::vector<TensorSpec> specs = tensors_of(problem.workload);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i == output_) continue;
    CudaMemory& table = tables_[static_cast<int>(specs[i].type)];
    CudaStatus status;
    if (table.bytes() == 0) {
      std::vector<unsigned char> bytes(static_cast<std::size_t>(kInputSteps * size_of(specs[i].type)));
      store_elements(specs[i].type, input_values(specs[i].type, specs[i].draw), bytes.data());
      status = table.allocate(*driver_, static_cast<std::int64_t>(bytes.size()));
      if (status.ok()) status = table.write(0, bytes.data(), static_cast<std::int64_t>(bytes.size()));
    }
    const InputsJob job = {input_key(problem.seed, specs[i].name),
                           static_cast<std::uint64_t>(specs[i].elements)};
    if (status.ok()) status = stream_->wait();  // the job's place is read by the launches before
    if (status.ok()) status = write_job(kInputsPlace, &job, sizeof job);
    for (std::int64_t set = 0; set < tensors_->sets() && status.ok(); ++set)
      status =
          launch(inputs_entry(specs[i].type), kCheckBlocks,
                 {table.address(), jobs_.address() + kInputsPlace * kJobBytes, tensors_->address(i, set)});
    if (!status.ok()) return status;
  }
  return stream_->wait();
}

/// What is expected of the seeds before stays: proofs go to and fro between two.
CudaStatus CudaChecker::place_expected(bool& there) {
  there = expected_.contains(seed_);
  if (there) return {};
  CudaMemory memory;
  CudaStatus status = memory.allocate(*driver_, elements_ * 4);
  if (status.out_of_memory()) {
    expected_.clear();
    status = memory.allocate(*driver_, elements_ * 4);
  }
  if (status.ok()) expected_[seed_] = std::move(memory);
  return status;
}

/// In groups of bands that grow until a launch is as long as it may be. The first time how long they take
/// decides how many bands there is time for; from then on it is as many.
CudaStatus CudaChecker::make_expected() {
  CudaStatus status = expected().fill(0, 0xff, expected().bytes());
  const bool first_time = bands_made_ == 0;
  const std::int64_t wanted = first_time ? check_.bands : bands_made_;
  ir::Launch shape = check_.plain.launch;
  double total_us = 0;
  std::int64_t count = 1;
  std::int64_t done = 0;
  for (; done < wanted && (total_us < kLongestUs || !first_time) && status.ok(); done += count) {
    if (done > 0) {
      const double each_us = std::max(total_us / static_cast<double>(done), 1e-3);
      const double left_us = first_time ? kLongestUs - total_us : kLongestUs;
      const double room = std::min(kLongestLaunchUs, left_us) / each_us + 1;
      count = static_cast<std::int64_t>(std::min(4.0 * static_cast<double>(count), room));
    }
    count = std::min({count, wanted - done, kMostBandsOfALaunch});
    std::vector<CudaAddress> addresses;
    for (std::size_t i = 0; i < tensors_->count(); ++i)
      if (i != output_) addresses.push_back(tensors_->address(i, 0));
    addresses.push_back(expected().address());
    addresses.push_back(bands_.address() + static_cast<CudaAddress>(done) * sizeof(std::int32_t));
    std::vector<void*> arguments;
    for (CudaAddress& address : addresses) arguments.push_back(&address);
    shape.grid[1] = static_cast<decltype(shape.grid)::value_type>(count);
    double us = 0;
    status = stream_->record_begin();
    if (status.ok()) status = stream_->launch(plain_, shape, arguments.data());
    if (status.ok()) status = stream_->record_end();
    if (status.ok()) status = stream_->wait();
    if (status.ok()) status = stream_->elapsed_us(us);
    total_us += us;
  }
  bands_made_ = done;
  return status;
}

CudaStatus CudaChecker::take_sums() {
  sums_ = {};
  CudaStatus status = sum(tensors_->address_of_set_0(), set_job(), sums_.set);
  for (std::size_t i = 0; i < tensors_->count() && status.ok(); ++i) {
    sums_.tensors.push_back(0);
    if (i != output_) status = sum_of_tensor(i, sums_.tensors[i]);
  }
  CheckResult result;
  if (status.ok()) status = run_compare(result);
  sums_.expected = result.expected_sum;
  expected_count_ = static_cast<std::int64_t>(result.compared);
  return status;
}

/// Parts of an input, bit for bit: its ends, and some between.
std::string CudaChecker::other_inputs(const Problem& problem) const {
  const std::vector<TensorSpec> specs = tensors_of(problem.workload);
  for (std::size_t i = 0; i < specs.size(); ++i) {
    if (i == output_) continue;
    const MadeInput made(problem.seed, specs[i]);
    const std::int64_t elements = specs[i].elements, count = std::min(elements, kSampledElements);
    const auto size = size_of(specs[i].type);
    for (int part = 0; part < kSampledParts; ++part) {
      const std::int64_t first = (elements - count) / (kSampledParts - 1) * part;
      std::vector<float> values;
      for (std::int64_t at = first; at < first + count; ++at)
        values.push_back(made[static_cast<std::size_t>(at)]);
      std::vector<unsigned char> wanted(values.size() * static_cast<std::size_t>(size)), got(wanted.size());
      store_elements(specs[i].type, values, wanted.data());
      const CudaStatus status =
          tensors_->peek(i, first * size, got.data(), static_cast<std::int64_t>(got.size()));
      if (!status.ok()) return text_of(status);
      if (got != wanted) return fmt::format("it makes another input (argument {}) than the host", i);
    }
  }
  return "";
}

/// Some expected values, by a host that knows nothing of what made the device's. Whole rows and columns of
/// inputs go into these.
std::string CudaChecker::other_values(const Problem& problem, const std::vector<float>& values,
                                      int threads) const {
  std::int64_t compared = 0;
  const std::vector<std::int64_t> indices = telling_elements(problem.workload, kProvenProducts);
  const std::vector<float> proof = reference_at(problem.workload, problem.seed, indices, threads);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const float value = values[static_cast<std::size_t>(indices[i])];
    if (std::bit_cast<std::uint32_t>(value) == kNothingExpected) continue;
    ++compared;
    // Both are right to f64 and rounded to f32.
    constexpr double kUnit = 0x1p-22;
    const double allowed = 0.01 * tolerance_ + kUnit * std::abs(static_cast<double>(proof[i]));
    if (value != proof[i] && !(std::abs(static_cast<double>(value) - proof[i]) <= allowed))
      return fmt::format("it expects {:.9g} of element {}, the host {:.9g}", value, indices[i], proof[i]);
  }
  return compared > 0 ? "" : "it expects nothing that the host knows";
}

std::string CudaChecker::prepare(const CudaTensors& tensors, Problem& problem, int threads) {
  tensors_ = &tensors;
  tolerance_ = problem.tolerance = tolerance_for(problem.workload, elements_);
  seed_ = problem.seed;
  bool there = false;
  CudaStatus status = place_expected(there);
  if (status.ok()) status = make_inputs_on_device(problem);
  if (status.ok() && !there) status = make_expected();
  if (status.ok()) status = tensors.poison_output();
  if (status.ok()) status = take_sums();
  const auto known = proven_.find(seed_);
  // A candidate may have written there.
  if (status.ok() && there && known != proven_.end() && known->second != sums_) {
    status = make_expected();
    if (status.ok()) status = take_sums();
  }
  if (!status.ok()) return text_of(status);
  if (known != proven_.end())
    return known->second == sums_ ? "" : "it makes other inputs or expected values than before";
  // What no band has written is taken for nothing expected, and would not be compared.
  if (bands_made_ == check_.bands && expected_count_ != elements_)
    return fmt::format("it expects {} of {} elements", expected_count_, elements_);
  std::vector<float> values;
  if (status = read_expected(values); !status.ok()) return text_of(status);
  std::string amiss = other_inputs(problem);
  if (amiss.empty()) amiss = other_values(problem, values, threads);
  // Once in each process: what is asked is whether these kernels work.
  if (amiss.empty() && proven_.empty())
    amiss = drill(*this, tensors, {problem.tensors[output_].type, tolerance_, values});
  if (amiss.empty()) proven_[seed_] = sums_;
  return amiss;
}

}  // namespace lehr
