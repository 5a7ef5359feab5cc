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
#include "base/input_step.h"
#include "measure/core/element.h"
#include "measure/cuda/checker_drill.h"

namespace lehr {
namespace {

// Seed of sums. Any number will do.
constexpr std::uint64_t kSumSeed = 0x6c656872;
/// Upper limit of a launch in microseconds. Watchdogs of displays end launches of two seconds (NVIDIA, "CUDA
/// on Windows and Linux: timeouts").
constexpr double kLongestLaunchUs = 0.2e6;
/// Upper limit, in microseconds, of the time for all expected values. If they take longer, only some bands
/// are computed, as on the host.
constexpr double kLongestUs = 0.5e6;
// CUDA C++ Programming Guide 13.0, "Technical Specifications".
constexpr std::int64_t kMostBandsOfALaunch = 65535;
/// Number of products that the host computes to verify the plain kernel. They take a tenth of a second.
constexpr std::int64_t kProvenProducts = 10'000'000;
/// Number of elements of an input that are compared, and the number of parts that they form.
constexpr std::int64_t kSampledElements = 1000;
constexpr int kSampledParts = 8;
/// Distance in bytes between jobs in the jobs' memory.
constexpr int kJobBytes = 256;
static_assert(sizeof(SumJob) <= kJobBytes);
enum JobPlace { kInputsPlace, kSumPlace, kComparePlace, kTotalPlace, kJobPlaces };

/// Returns all bands: the first, the last, then the others in pseudo-random order.
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
  if (problem.kind == nullptr || problem.kind->table == nullptr) return "nobody says how it is checked";
  for (const std::size_t output : outputs_of(problem)) {
    const Argument& of = problem.arguments[output];
    outputs_.push_back({output, of, compare_entry(of.type, of.expected_as)});
  }
  if (outputs_.size() > kMostOutputs) return fmt::format("it has more than {} outputs", kMostOutputs);
  const std::string kernels = file_at(check.kernels), plain = file_at(check.plain.path);
  if (kernels.empty() || plain.empty()) return "its kernels cannot be read";
  std::vector<std::string> entries = {"lehr_sum", "lehr_total"};
  for (const Output& output : outputs_) entries.push_back(output.compare);
  for (const Argument& argument : problem.arguments)
    if (argument.role != Role::kOut) entries.push_back(inputs_entry(argument.type));
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

/// Runs lehr_total over the results of lehr_compare, lehr_sum or both.
CudaStatus CudaChecker::total(bool compares, bool sums_up, CheckResult& result) const {
  constexpr std::uint64_t kBlocks = kCheckBlocks;
  const TotalJob job = {++number_, compares ? kBlocks : 0, sums_up ? kBlocks : 0};
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
  if (status.ok()) status = total(false, true, result);
  // If the total belongs to another check, or no total exists, it is not a sum of these bytes.
  sum = result.number == number_ ? result.sum : ~result.sum;
  return status;
}

SumJob CudaChecker::set_job() const {
  SumJob job = {.seed = kSumSeed, .words = static_cast<std::uint64_t>(tensors_->set_bytes() / 8)};
  for (const Output& output : outputs_) {
    const auto begin =
        static_cast<std::uint64_t>(tensors_->address(output.argument, 0) - tensors_->address_of_set_0());
    job.holes[job.hole_count++] = {begin, begin + static_cast<std::uint64_t>(output.of.bytes())};
  }
  return job;
}

/// Compares all outputs. The first result also has the sum of the set.
CudaStatus CudaChecker::run_compare(std::vector<CheckResult>& results) const {
  const SumJob whole = set_job();
  const CudaAddress sums = partials_.address() + std::uint64_t{kCheckBlocks} * kPartialWords * 8;
  CudaStatus status = write_job(kSumPlace, &whole, sizeof whole);
  results.assign(outputs_.size(), {});
  for (std::size_t i = 0; i < outputs_.size() && status.ok(); ++i) {
    const Argument& of = outputs_[i].of;
    const CompareJob job = {static_cast<std::uint64_t>(of.elements), of.absolute, kSumSeed, of.relative};
    status = write_job(kComparePlace, &job, sizeof job);
    if (status.ok())
      status = launch(outputs_[i].compare, kCheckBlocks,
                      {tensors_->address(outputs_[i].argument, 0), expected(i).address(),
                       jobs_.address() + kComparePlace * kJobBytes, partials_.address()});
    if (status.ok() && i == 0)
      status = launch("lehr_sum", kCheckBlocks,
                      {tensors_->address_of_set_0(), jobs_.address() + kSumPlace * kJobBytes, sums});
    if (status.ok()) status = total(true, i == 0, results[i]);
    // If the total belongs to another check, or no total exists, it says nothing about this check.
    if (results[i].number != number_) results[i].number = 0;
  }
  return status;
}

std::variant<DeviceFindings, CudaStatus> CudaChecker::check() const {
  std::vector<CheckResult> results;
  if (const CudaStatus status = run_compare(results); !status.ok()) return status;
  DeviceFindings seen;
  seen.inputs_whole = results[0].number != 0 && results[0].sum == sums_.set;
  seen.expected_whole = true;
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const Findings& found = seen.outputs.emplace_back(findings_of(results[i], outputs_[i].of.elements));
    if (results[i].number == 0 || results[i].expected_sum != sums_.expected[i] ||
        found.compared != outputs_[i].expected_count)
      seen.expected_whole = false;
  }
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
  return sum(tensors_->address(tensor, 0),
             {kSumSeed, (bytes + 7) / 8, 1, {SumJob::Hole{bytes, ~std::uint64_t{0}}}}, found);
}

CudaStatus CudaChecker::is_whole(std::size_t tensor, bool& whole) const {
  std::uint64_t now = 0;
  const CudaStatus status = sum_of_tensor(tensor, now);
  whole = now == sums_.tensors[tensor];
  return status;
}

CudaStatus CudaChecker::expected_at(std::size_t output, std::int64_t element, void* bytes) const {
  const std::int64_t size = size_of(outputs_[output].of.expected_as);
  return expected(output).read(element * size, bytes, size);
}

CudaStatus CudaChecker::set_expected(std::size_t output, std::int64_t element, const void* bytes) const {
  const std::int64_t size = size_of(outputs_[output].of.expected_as);
  return expected(output).write(element * size, bytes, size);
}

CudaStatus CudaChecker::read_expected(std::size_t output, std::vector<unsigned char>& bytes) const {
  bytes.resize(static_cast<std::size_t>(expected(output).bytes()));
  return expected(output).read(0, bytes.data(), expected(output).bytes());
}

CudaStatus CudaChecker::make_inputs_on_device(const Problem& problem) {
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.role == Role::kOut) continue;
    CudaMemory& table = tables_[i];
    CudaStatus status;
    if (table.bytes() == 0) {
      const std::vector<unsigned char> values = problem.kind->table(problem, i);
      status = table.allocate(*driver_, std::ssize(values));
      if (status.ok()) status = table.write(0, values.data(), std::ssize(values));
    }
    const InputsJob job = {problem.kind->key(problem, i), static_cast<std::uint64_t>(argument.elements)};
    if (status.ok()) status = stream_->wait();  // earlier launches read the job's memory
    if (status.ok()) status = write_job(kInputsPlace, &job, sizeof job);
    for (std::int64_t set = 0; set < tensors_->sets() && status.ok(); ++set)
      status =
          launch(inputs_entry(argument.type), kCheckBlocks,
                 {table.address(), jobs_.address() + kInputsPlace * kJobBytes, tensors_->address(i, set)});
    if (!status.ok()) return status;
  }
  return stream_->wait();
}

CudaStatus CudaChecker::allocate_expected(std::vector<CudaMemory>& memory) const {
  memory.clear();
  CudaStatus status;
  for (const Output& output : outputs_)
    if (status.ok())
      status = memory.emplace_back().allocate(*driver_, output.of.elements * size_of(output.of.expected_as));
  return status;
}

/// Selects the expected values of the current seed. Values of earlier seeds are kept, because proofs
/// alternate between two seeds.
CudaStatus CudaChecker::place_expected(bool& there) {
  there = expected_.contains(seed_);
  if (there) return {};
  std::vector<CudaMemory> memory;
  CudaStatus status = allocate_expected(memory);
  if (status.out_of_memory()) {
    memory.clear();
    expected_.clear();
    status = allocate_expected(memory);
  }
  if (status.ok()) expected_[seed_] = std::move(memory);
  return status;
}

std::vector<CudaAddress> CudaChecker::plain_addresses() const {
  std::vector<CudaAddress> addresses;
  for (std::size_t i = 0; i < tensors_->count(); ++i)
    if (tensors_->is_read(i)) addresses.push_back(tensors_->address(i, 0));
  for (std::size_t i = 0; i < outputs_.size(); ++i) addresses.push_back(expected(i).address());
  return addresses;
}

/// Makes the expected values in groups of bands. The groups grow until a launch takes as long as it may. In
/// the first call the speed decides for how many bands there is time; later calls make the same number.
CudaStatus CudaChecker::make_expected() {
  CudaStatus status;
  for (std::size_t i = 0; i < outputs_.size() && status.ok(); ++i)
    status = expected(i).fill(0, nothing_expected(outputs_[i].of.expected_as), expected(i).bytes());
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
    std::vector<CudaAddress> addresses = plain_addresses();
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
    if (!tensors_->is_output(i)) status = sum_of_tensor(i, sums_.tensors[i]);
  }
  std::vector<CheckResult> results;
  if (status.ok()) status = run_compare(results);
  for (std::size_t i = 0; i < results.size(); ++i) {
    sums_.expected.push_back(results[i].expected_sum);
    outputs_[i].expected_count = static_cast<std::int64_t>(results[i].compared);
  }
  return status;
}

/// Compares parts of each input with the host's values bit for bit: both ends, and some parts between.
/// Returns the first difference.
std::string CudaChecker::other_inputs(const Problem& problem) const {
  for (std::size_t i = 0; i < problem.arguments.size(); ++i) {
    const Argument& argument = problem.arguments[i];
    if (argument.role == Role::kOut) continue;
    const std::uint64_t key = problem.kind->key(problem, i);
    const std::vector<unsigned char> table = problem.kind->table(problem, i);
    const std::int64_t elements = argument.elements, count = std::min(elements, kSampledElements);
    const std::int64_t size = size_of(argument.type);
    for (int part = 0; part < kSampledParts; ++part) {
      const std::int64_t first = (elements - count) / (kSampledParts - 1) * part;
      std::vector<unsigned char> wanted, got(static_cast<std::size_t>(count * size));
      for (std::int64_t at = first; at < first + count; ++at) {
        const auto value = table.begin() + input_step(key, at) * size;
        wanted.insert(wanted.end(), value, value + size);
      }
      const CudaStatus status =
          tensors_->peek(i, first * size, got.data(), static_cast<std::int64_t>(got.size()));
      if (!status.ok()) return text_of(status);
      if (got != wanted) return fmt::format("it makes another input (argument {}) than the host", i);
    }
  }
  return "";
}

/// Compares some expected values with values from a host computation that shares no code with the device's.
/// Whole rows and columns of inputs contribute to them.
std::string CudaChecker::other_values(const Problem& problem, std::size_t argument, const Argument& known,
                                      int threads) const {
  std::int64_t compared = 0;
  const std::vector<std::int64_t> indices = problem.kind->telling(problem, argument, kProvenProducts);
  const std::vector<unsigned char> proof = problem.kind->expected_at(problem, argument, indices, threads);
  // Both values are right to f64 precision. They were rounded to f32, or were not rounded but accumulated in
  // another order.
  const double unit = known.expected_as == DType::kF32 ? 0x1p-22 : 0x1p-40;
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (is_nothing(known, indices[i])) continue;
    ++compared;
    const double value = load_element(known.expected_as, known.expected.data(), indices[i]);
    const double host = load_element(known.expected_as, proof.data(), static_cast<std::int64_t>(i));
    const double allowed = 0.01 * known.absolute + unit * std::abs(host);
    if (value != host && !(std::abs(value - host) <= allowed))
      return fmt::format("it expects {:.9g} of element {}{}, the host {:.9g}", value, indices[i],
                         named_output(problem, argument), host);
  }
  return compared > 0 ? "" : "it expects nothing that the host knows";
}

/// Compares the values of a new seed with the host's, and runs the drill.
std::string CudaChecker::first_time(const CudaTensors& tensors, const Problem& problem, int threads) {
  std::string amiss = other_inputs(problem);
  for (std::size_t i = 0; i < outputs_.size() && amiss.empty(); ++i) {
    Argument known = outputs_[i].of;
    // An element that no band has written looks like nothing_expected(), and would not be compared.
    if (bands_made_ == check_.bands && outputs_[i].expected_count != known.elements)
      return fmt::format("it expects {} of {} elements{}", outputs_[i].expected_count, known.elements,
                         named_output(problem, outputs_[i].argument));
    if (const CudaStatus status = read_expected(i, known.expected); !status.ok()) return text_of(status);
    amiss = other_values(problem, outputs_[i].argument, known, threads);
    // Once per process: the drill tests whether these kernels work.
    if (amiss.empty() && proven_.empty()) amiss = drill(*this, tensors, {outputs_[i].argument, i, known});
  }
  return amiss;
}

std::string CudaChecker::prepare(CudaTensors& tensors, Problem& problem, int threads) {
  tensors_ = &tensors;
  problem.kind->set_tolerances(problem);
  for (Output& output : outputs_) output.of = problem.arguments[output.argument];
  seed_ = problem.seed;
  bool there = false;
  CudaStatus status = place_expected(there);
  if (status.ok()) status = make_inputs_on_device(problem);
  if (status.ok()) status = tensors.keep();
  if (status.ok() && !there) status = make_expected();
  if (status.ok()) status = tensors.reset_outputs();
  if (status.ok()) status = take_sums();
  const auto known = proven_.find(seed_);
  // A candidate may have written to the expected values.
  if (status.ok() && there && known != proven_.end() && known->second != sums_) {
    status = make_expected();
    if (status.ok()) status = take_sums();
  }
  if (!status.ok()) return text_of(status);
  if (known != proven_.end())
    return known->second == sums_ ? "" : "it makes other inputs or expected values than before";
  std::string amiss = first_time(tensors, problem, threads);
  if (amiss.empty()) proven_[seed_] = sums_;
  return amiss;
}

}  // namespace lehr
