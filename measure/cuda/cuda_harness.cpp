// The measurement protocol on CUDA.
#include "measure/cuda/cuda_harness.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "measure/core/check.h"
#include "measure/core/element.h"
#include "measure/core/sample_limits.h"
#include "measure/system/affinity.h"

namespace lehr {
namespace {

/// Maximum number of calls of one sample. It is large enough to hide the ends of the sample of a 2 us kernel,
/// and small enough to instantiate the graph in 1 ms.
constexpr std::int64_t kMaxLaunches = 512;
/// A sample of calls shorter than kShortUs has at least kMinLaunches calls, even if that exceeds its intended
/// length. Then the events' resolution of 0.5 us (CUDA Runtime API, cudaEventElapsedTime) and the launch of
/// the graph are below 1 % of the sample.
constexpr double kShortUs = 50;
constexpr std::int64_t kMinLaunches = 20;

std::int64_t calls_per_sample(double sample_us, double call_us) {
  const double least = call_us < kShortUs ? static_cast<double>(kMinLaunches) : 1.0;
  const double wanted = std::ceil(sample_us / std::max(call_us, 0.5));
  return static_cast<std::int64_t>(std::clamp(wanted, least, static_cast<double>(kMaxLaunches)));
}

/// Removes the elements without an expected value.
void leave_out_nothing(Argument& output) {
  std::int64_t first = 0;
  while (first < output.elements && !is_nothing(output, first)) ++first;
  if (first == output.elements) return;
  std::vector<unsigned char> expected;
  const std::int64_t size = size_of(output.expected_as);
  for (std::int64_t i = 0; i < output.elements; ++i) {
    if (is_nothing(output, i)) continue;
    output.indices.push_back(i);
    const auto at = output.expected.begin() + i * size;
    expected.insert(expected.end(), at, at + size);
  }
  output.expected = std::move(expected);
}

int host_threads() {
  return static_cast<int>(allowed_cpus().size());
}

}  // namespace

/// The state that stays from problem to problem. Members are destroyed in reverse order, the driver last.
struct CudaHarness::Device {
  std::unique_ptr<CudaDriver> driver;
  CudaContext context;
  CudaStream stream;
  std::unique_ptr<Nvml> nvml;  ///< nullptr: clocks and power are not known
  std::int64_t l2_bytes = 0;
  CudaMemory flush;
};

CudaHarness::CudaHarness(CudaLibraries libraries) : libraries_(std::move(libraries)) {}

CudaHarness::~CudaHarness() = default;

const CudaDriver& CudaHarness::driver() const {
  return *device_->driver;
}
const CudaStream& CudaHarness::stream() const {
  return device_->stream;
}

void CudaHarness::open(const RunSettings& settings) {
  if (!device_ || settings_.device != settings.device) {
    tensors_ = CudaTensors();
    checker_ = CudaChecker();
    device_.reset();
    auto device = std::make_unique<Device>();
    std::string why_not;
    device->driver = CudaDriver::open(libraries_.driver, why_not);
    if (!device->driver) throw_environment("CUDA kernels cannot run: {}", why_not);
    const auto require = [&](CudaStatus status) {
      if (!status.ok())
        throw_environment("cuda:{} cannot be used: {}", settings.device, device->driver->text_of(status));
    };
    require(device->context.open(*device->driver, settings.device));
    require(device->stream.open(*device->driver));
    device->nvml = Nvml::open(libraries_.nvml, device->driver->device_uuid(settings.device));
    device->l2_bytes = device->driver->attribute(settings.device, CudaAttribute::kL2Bytes).value_or(0);
    require(device->flush.allocate(*device->driver, std::max<std::int64_t>(2 * device->l2_bytes, 1 << 20)));
    device_ = std::move(device);
  }
  settings_ = settings;
}

void CudaHarness::prepare(const Problem& problem, const RunSettings& settings) {
  open(settings);
  problem_ = problem;
  checked_by_ = "host";
  checker_ = CudaChecker();
  if (!problem.made() && !settings.check.kernels.empty()) {
    const std::string amiss = checker_.open(driver(), stream(), settings.check, problem);
    checked_by_ = amiss.empty() ? "device" : "host: " + amiss;
  }
  place();
}

void CudaHarness::place() {
  if (by_device() && place_by_device()) return;
  make(problem_, host_threads());
  place_tensors();
}

void CudaHarness::place_tensors() {
  const std::int64_t rotated_bytes = settings_.cold ? 0 : 2 * device_->l2_bytes;
  if (const CudaStatus status = tensors_.place(driver(), problem_, rotated_bytes); !status.ok()) {
    throw_environment("the problem's tensors ({} bytes) cannot be placed on cuda:{}: {}",
                      tensors_.set_bytes(), settings_.device, driver().text_of(status));
  }
}

/// Makes the inputs and expected values on the device. Returns false if the host must do it.
bool CudaHarness::place_by_device() {
  place_tensors();
  const std::string amiss = checker_.prepare(tensors_, problem_, host_threads());
  if (amiss.empty()) return true;
  checked_by_ = "host: the device's check is not to be trusted: " + amiss;
  checker_ = CudaChecker();
  return false;
}

Fault CudaHarness::fault(FailureKind kind, CudaStatus status, const std::string& who) const {
  Fault fault;
  if (status.out_of_memory()) {
    kind = FailureKind::kOutOfMemory;
  } else if (status.launch_timeout()) {
    kind = FailureKind::kTimeout;
  } else if (status.sticky()) {
    kind = FailureKind::kCrash;
  }
  fault.worker_lost = status.sticky();
  fault.failure.kind = kind;
  fault.failure.text = fmt::format("{}: {}", who, driver().text_of(status));
  if (fault.worker_lost) fault.failure.text += "; the CUDA context is lost, the worker is replaced";
  return fault;
}

std::variant<Checked, Fault> CudaHarness::check(const Call& call, const std::string& who) {
  if (const CudaStatus status = tensors_.reset_outputs(); !status.ok())
    return fault(FailureKind::kLaunch, status, who);
  if (std::optional<Fault> refused = call(0)) return *std::move(refused);
  return look(who, true);
}

std::variant<Checked, Fault> CudaHarness::check_left(const std::string& who) {
  const bool in_place =
      std::ranges::any_of(problem_.arguments, [](const Argument& each) { return each.role == Role::kInOut; });
  return look(who, !in_place);
}

void CudaHarness::replace(const Problem& problem) {
  problem_ = problem;
  place();
}

std::variant<Checked, Fault> CudaHarness::damaged(const std::string& what, const std::string& who) {
  // Set 0 is damaged now; the next candidate must not be blamed for it.
  place();
  return Fault{{FailureKind::kWrongResult, fmt::format("{}: {}", who, what), {}}, false};
}

/// Turns findings into a result. If guards or inputs are damaged, finds out which.
std::variant<Checked, Fault> CudaHarness::judged(const DeviceFindings& seen, const std::string& who,
                                                 bool outputs) {
  if (!seen.inputs_whole) {
    std::string damage;
    CudaStatus status = tensors_.find_damage_of_guards(damage);
    for (std::size_t i = 0; i < tensors_.count() && status.ok() && damage.empty(); ++i) {
      bool whole = true;
      if (!tensors_.is_output(i)) status = checker_.is_whole(i, whole);
      if (!whole) damage = fmt::format("it modified its input (argument {})", i);
    }
    if (!status.ok()) return fault(FailureKind::kLaunch, status, who);
    return damaged(damage.empty() ? "it wrote outside its arguments" : damage, who);
  }
  if (!seen.expected_whole)
    return damaged("it wrote outside its arguments, onto what is expected of it", who);
  Checked all;
  for (std::size_t i = 0; i < seen.outputs.size() && outputs; ++i) {
    const std::size_t at = tensors_.outputs()[i];
    const Argument& output = problem_.arguments[at];
    const Findings& found = seen.outputs[i];
    unsigned char expected[8] = {}, got[8] = {};
    if (found.first_wrong >= 0) {
      CudaStatus status = checker_.expected_at(i, found.first_wrong, expected);
      const std::int64_t size = size_of(output.type);
      if (status.ok()) status = tensors_.peek(at, found.first_wrong * size, got, size);
      if (!status.ok()) return fault(FailureKind::kLaunch, status, who);
    }
    const std::string text =
        fault_of(found, output, named_output(problem_, at), load_element(output.type, got, 0),
                 load_element(output.expected_as, expected, 0));
    if (!text.empty()) return Fault{{FailureKind::kWrongResult, text, {}}, false};
    all.max_error = std::max(all.max_error, found.max_error);
  }
  return all;
}

/// Checks inputs and guards after calls, and also the outputs if `outputs` is true.
std::variant<Checked, Fault> CudaHarness::look(const std::string& who, bool outputs) {
  if (const CudaStatus status = stream().wait(); !status.ok())
    return fault(FailureKind::kLaunch, status, who);
  if (by_device()) {
    const std::variant<DeviceFindings, CudaStatus> seen = checker_.check();
    if (const auto* status = std::get_if<CudaStatus>(&seen)) return fault(FailureKind::kLaunch, *status, who);
    return judged(std::get<DeviceFindings>(seen), who, outputs);
  }
  std::string damage;
  if (const CudaStatus status = tensors_.find_damage(damage); !status.ok())
    return fault(FailureKind::kLaunch, status, who);
  if (!damage.empty()) return damaged(damage, who);
  return outputs ? compared(problem_, who) : Checked{};
}

/// Compares the outputs of set 0 with the expected values of `problem`.
std::variant<Checked, Fault> CudaHarness::compared(const Problem& problem, const std::string& who) const {
  Checked all;
  for (const std::size_t output : tensors_.outputs()) {
    std::vector<unsigned char> bytes;
    if (const CudaStatus status = tensors_.read(output, bytes); !status.ok())
      return fault(FailureKind::kLaunch, status, who);
    const Comparison comparison = compare_output(problem.arguments[output], named_output(problem, output),
                                                 bytes.data(), host_threads());
    if (!comparison.fault.empty()) return Fault{{FailureKind::kWrongResult, comparison.fault, {}}, false};
    all.max_error = std::max(all.max_error, comparison.max_error);
  }
  return all;
}

std::variant<Checked, Fault> CudaHarness::check_by_host(const Call& call, const std::string& who) {
  std::variant<Checked, Fault> seen = check(call, who);
  if (!by_device() || std::holds_alternative<Fault>(seen)) return seen;
  Problem known = problem_;
  for (std::size_t i = 0; i < tensors_.outputs().size(); ++i) {
    Argument& output = known.arguments[tensors_.outputs()[i]];
    if (const CudaStatus status = checker_.read_expected(i, output.expected); !status.ok())
      return fault(FailureKind::kLaunch, status, who);
    leave_out_nothing(output);
  }
  return compared(known, who);
}

std::optional<Fault> CudaHarness::damage_by_another() const {
  const auto lost = [](const std::string& what) {
    return Fault{{FailureKind::kCrash, "another kernel: " + what, {}}, true, true};
  };
  // If the driver no longer answers, the candidate that calls it next gets the error.
  if (by_device()) {
    const std::variant<bool, CudaStatus> whole = checker_.inputs_whole();
    const bool* seen = std::get_if<bool>(&whole);
    if (seen == nullptr || *seen) return std::nullopt;
    return lost("it modified an input, or wrote outside its arguments");
  }
  std::string damage;
  if (!tensors_.find_damage(damage).ok() || damage.empty()) return std::nullopt;
  return lost(damage);
}

std::variant<std::vector<RunOutput>, Fault> CudaHarness::output() const {
  std::vector<RunOutput> outputs;
  for (const std::size_t at : tensors_.outputs()) {
    RunOutput& output = outputs.emplace_back();
    output.element_bytes = size_of(problem_.arguments[at].type);
    const CudaStatus status = tensors_.read(at, output.bytes);
    if (!status.ok()) return fault(FailureKind::kLaunch, status, "reading the output");
  }
  return outputs;
}

std::optional<Fault> CudaHarness::capture(const Call& call, std::int64_t calls, const std::string& who,
                                          CudaGraph& graph) const {
  if (const CudaStatus status = stream().begin_capture(); !status.ok())
    return fault(FailureKind::kLaunch, status, who);
  std::optional<Fault> refused;
  for (std::int64_t i = 0; i < calls && !refused; ++i) refused = call(i % tensors_.sets());
  // Also done after a refused call, because the stream must leave capture mode.
  const CudaStatus ended = stream().end_capture(graph);
  if (refused) return refused;
  if (!ended.ok()) return fault(FailureKind::kLaunch, ended, who);
  return std::nullopt;
}

CudaStatus CudaHarness::sample(const CudaGraph& graph, std::int64_t calls, double& us) const {
  const CudaStream& queue = stream();
  CudaStatus status = queue.fill(device_->flush.address(), 0, device_->flush.bytes());
  if (status.ok()) status = queue.record_begin();
  if (status.ok()) status = queue.launch(graph);
  if (status.ok()) status = queue.record_end();
  if (status.ok()) status = queue.wait();
  if (status.ok()) status = queue.elapsed_us(us);
  us /= static_cast<double>(calls);
  return status;
}

/// Reads the GPU's state while an untimed repetition runs: an idle GPU has another clock and draws less
/// power.
std::optional<GpuState> CudaHarness::state_while_busy(const CudaGraph& graph) const {
  if (!device_->nvml || !stream().launch(graph).ok()) return std::nullopt;
  const std::optional<GpuState> state = device_->nvml->read();
  return stream().wait().ok() ? state : std::nullopt;
}

/// Returns the shorter time of two calls. In the first call instructions, tensor maps and the clock may be
/// cold, so it may take several times as long as a short kernel's later calls.
std::variant<double, Fault> CudaHarness::warm_up_us(const Call& call, const std::string& who) const {
  CudaGraph one;
  if (std::optional<Fault> refused = capture(call, 1, who, one)) return *std::move(refused);
  double first = 0, second = 0;
  CudaStatus status = sample(one, 1, first);
  if (status.ok()) status = sample(one, 1, second);
  if (!status.ok()) return fault(FailureKind::kLaunch, status, who);
  return std::min(first, second);
}

std::variant<Samples, Fault> CudaHarness::time(const Call& call, const SampleRequest& request,
                                               const std::string& who) {
  const auto failed = [&](CudaStatus status) { return fault(FailureKind::kLaunch, status, who); };
  const std::variant<double, Fault> warm = warm_up_us(call, who);
  if (const auto* refused = std::get_if<Fault>(&warm)) return *refused;
  Samples samples;
  const std::int64_t calls = settings_.cold ? 1 : calls_per_sample(request.sample_us, std::get<double>(warm));
  CudaGraph graph;
  if (std::optional<Fault> refused = capture(call, calls, who, graph)) return *std::move(refused);
  double total_us = 0;
  while (!enough(samples, total_us, request)) {
    double us = 0;
    if (const CudaStatus status = sample(graph, calls, us); !status.ok()) return failed(status);
    samples.us.push_back(us);
    // An empty kernel counts as 0.5 us, because sampling would never end with a clock that is fake or broken.
    total_us += std::max(us, 0.5) * static_cast<double>(calls);
  }
  samples.hopeless = is_hopeless(samples, request);
  samples.gpu = state_while_busy(graph);
  return samples;
}

}  // namespace lehr
