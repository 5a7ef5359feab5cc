// Tensors live in sets: one allocation holds `sets` copies of all tensors, each between two guards. Set 0 is
// the one that is checked.
#include "measure/cuda_runner.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "base/error.h"
#include "measure/check.h"
#include "measure/element.h"

namespace lehr {
namespace {

/// Bytes before and behind every tensor that no candidate may change: one vector store of a whole warp.
constexpr std::int64_t kGuardBytes = 512;
constexpr unsigned char kGuardByte = 0xA5;
/// Above this, dynamic shared memory must be asked for (CUDA C++ Programming Guide 13.0, "Shared Memory"
/// of 8.x).
constexpr std::int64_t kDefaultSharedBytes = 48 * 1024;
/// Launches of one sample: enough to hide the ends of a 2 us kernel's sample, few enough to instantiate in 1
/// ms.
constexpr std::int64_t kMaxLaunches = 512;
/// Sets beyond this many would not be used within a sample of kMaxLaunches.
constexpr std::int64_t kMaxSets = kMaxLaunches;

std::int64_t round_up(std::int64_t value, std::int64_t to) {
  return (value + to - 1) / to * to;
}

}  // namespace

/// What prepare() makes; members are destroyed in reverse order, the driver last.
struct CudaRunner::Device {
  std::unique_ptr<CudaDriver> driver;
  CudaContext context;
  CudaStream stream;
  std::int64_t l2_bytes = 0;
  CudaMemory flush;

  CudaMemory arena;
  std::vector<std::int64_t> offsets;  ///< of each tensor's first element within a set
  std::int64_t set_bytes = 0;
  std::int64_t sets = 0;
  std::size_t output = 0;
};

CudaRunner::CudaRunner(std::string driver_library) : driver_library_(std::move(driver_library)) {}

CudaRunner::~CudaRunner() {
  slots_.clear();
}  // modules go before the context

void CudaRunner::prepare(const Problem& problem, const RunSettings& settings) {
  slots_.clear();
  problem_ = problem;
  if (!device_ || settings_.device != settings.device) {
    device_.reset();
    auto device = std::make_unique<Device>();
    std::string why_not;
    device->driver = CudaDriver::open(driver_library_, why_not);
    if (!device->driver) throw_environment("CUDA kernels cannot run: {}", why_not);
    const auto require = [&](CudaStatus status) {
      if (!status.ok())
        throw_environment("cuda:{} cannot be used: {}", settings.device, device->driver->text_of(status));
    };
    require(device->context.open(*device->driver, settings.device));
    require(device->stream.open(*device->driver));
    device->l2_bytes = device->driver->attribute(settings.device, CudaAttribute::kL2Bytes).value_or(0);
    require(device->flush.allocate(*device->driver, std::max<std::int64_t>(2 * device->l2_bytes, 1 << 20)));
    device_ = std::move(device);
  }
  settings_ = settings;
  make_sets();
}

void CudaRunner::make_sets() {
  Device& d = *device_;
  d.output = output_of(problem_);
  d.offsets.clear();
  std::int64_t end = 0;
  std::int64_t data_bytes = 0;
  for (const ProblemTensor& tensor : problem_.tensors) {
    d.offsets.push_back(end + kGuardBytes);
    data_bytes += tensor.elements * size_of(tensor.type);
    end = round_up(d.offsets.back() + tensor.elements * size_of(tensor.type) + kGuardBytes, 256);
  }
  d.set_bytes = end;
  d.sets = settings_.cold ? 1
                          : std::clamp<std::int64_t>(
                                2 * d.l2_bytes / std::max<std::int64_t>(data_bytes, 1) + 1, 1, kMaxSets);
  CudaStatus status = d.arena.allocate(*d.driver, d.set_bytes * d.sets);
  while (status.out_of_memory() && d.sets > 1) {
    d.sets = (d.sets + 1) / 2;
    status = d.arena.allocate(*d.driver, d.set_bytes * d.sets);
  }
  const auto require = [&](CudaStatus result) {
    if (!result.ok()) {
      throw_environment("the problem's tensors ({} bytes) cannot be placed on cuda:{}: {}", d.set_bytes,
                        settings_.device, d.driver->text_of(result));
    }
  };
  require(status);
  require(d.arena.fill(0, kGuardByte, d.arena.bytes()));
  for (std::size_t i = 0; i < problem_.tensors.size(); ++i) {
    const ProblemTensor& tensor = problem_.tensors[i];
    std::vector<unsigned char> bytes(static_cast<std::size_t>(tensor.elements * size_of(tensor.type)),
                                     kPoisonByte);
    if (!tensor.output) store_elements(tensor.type, tensor.values, bytes.data());
    for (std::int64_t set = 0; set < d.sets; ++set) {
      require(d.arena.write(set * d.set_bytes + d.offsets[i], bytes.data(),
                            static_cast<std::int64_t>(bytes.size())));
    }
  }
}

Fault CudaRunner::fault(FailureKind kind, CudaStatus status, const Slot* slot) const {
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
  fault.failure.text = device_->driver->text_of(status);
  if (slot) fault.failure.text = fmt::format("{}: {}", slot->candidate.entry, fault.failure.text);
  if (fault.worker_lost) fault.failure.text += "; the CUDA context is lost, the worker is replaced";
  return fault;
}

CudaRunner::Slot& CudaRunner::loaded(int slot) {
  const auto found = slots_.find(slot);
  CHECK(found != slots_.end(), "slot {} holds no candidate", slot);
  return found->second;
}

std::variant<Resources, Fault> CudaRunner::load(int slot, const Candidate& candidate) {
  CHECK(device_, "load before prepare");
  const auto launch_fault = [&](std::string text) {
    return Fault{{FailureKind::kLaunch, std::move(text), {}}, false};
  };
  std::ifstream file(candidate.path, std::ios::binary);
  const std::string image((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (image.empty()) return launch_fault(fmt::format("{} cannot be read or is empty", candidate.path));

  Slot made;
  made.candidate = candidate;
  if (const CudaStatus status = made.kernel.load(*device_->driver, image.data(), candidate.entry);
      !status.ok()) {
    return fault(FailureKind::kLaunch, status, &made);
  }
  const auto attribute = [&](CudaFunctionAttribute which) { return made.kernel.attribute(which); };
  const ir::Launch& launch = candidate.launch;
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  if (const auto most = attribute(CudaFunctionAttribute::kMaxThreadsPerBlock); most && threads > *most) {
    return launch_fault(fmt::format("{}: a block of {} threads; the compiled kernel allows {}",
                                    candidate.entry, threads, *most));
  }
  const int static_shared = attribute(CudaFunctionAttribute::kStaticSharedBytes).value_or(0);
  if (static_shared + launch.shared_bytes > kDefaultSharedBytes) {
    if (const CudaStatus status = made.kernel.allow_dynamic_shared(launch.shared_bytes); !status.ok()) {
      return fault(FailureKind::kLaunch, status, &made);
    }
  }
  Resources resources;
  resources.registers = attribute(CudaFunctionAttribute::kRegisters);
  resources.stack_bytes = attribute(CudaFunctionAttribute::kLocalBytes);
  resources.shared_bytes = static_shared + static_cast<int>(launch.shared_bytes);
  slots_.erase(slot);
  slots_.emplace(slot, std::move(made));
  return resources;
}

void CudaRunner::unload(int slot) {
  slots_.erase(slot);
}

CudaStatus CudaRunner::launch(const Slot& slot, std::int64_t set) {
  const Device& d = *device_;
  std::vector<CudaAddress> addresses;
  for (const std::int64_t offset : d.offsets) {
    addresses.push_back(d.arena.address() + static_cast<CudaAddress>(set * d.set_bytes + offset));
  }
  std::vector<void*> arguments;
  for (CudaAddress& address : addresses) arguments.push_back(&address);
  const ir::Launch& shape = slot.candidate.launch;
  return d.stream.launch(slot.kernel, shape.grid, shape.block, shape.shared_bytes, arguments.data());
}

CudaStatus CudaRunner::poison_output() {
  const ProblemTensor& tensor = problem_.tensors[device_->output];
  return device_->arena.fill(device_->offsets[device_->output], kPoisonByte,
                             tensor.elements * size_of(tensor.type));
}

/// Reads the guards of set 0. `damage` names the first tensor whose guard was overwritten.
CudaStatus CudaRunner::damage_around_output(std::string& damage) {
  const Device& d = *device_;
  std::vector<unsigned char> guard(kGuardBytes);
  for (std::size_t i = 0; i < problem_.tensors.size() && damage.empty(); ++i) {
    const std::int64_t bytes = problem_.tensors[i].elements * size_of(problem_.tensors[i].type);
    for (const bool behind : {false, true}) {
      const std::int64_t at = behind ? d.offsets[i] + bytes : d.offsets[i] - kGuardBytes;
      if (const CudaStatus status = d.arena.read(at, guard.data(), kGuardBytes); !status.ok()) return status;
      const auto hit =
          std::find_if(guard.begin(), guard.end(), [](unsigned char byte) { return byte != kGuardByte; });
      if (hit == guard.end()) continue;
      const std::int64_t distance = behind ? hit - guard.begin() : kGuardBytes - (hit - guard.begin());
      damage = fmt::format("it wrote outside argument {}: {} bytes {}", i, distance,
                           behind ? "behind its end" : "before its begin");
      break;
    }
  }
  return {};
}

std::variant<Checked, Fault> CudaRunner::check(int slot_number) {
  Slot& slot = loaded(slot_number);
  const Device& d = *device_;
  const ProblemTensor& output = problem_.tensors[d.output];
  std::vector<unsigned char> bytes(static_cast<std::size_t>(output.elements * size_of(output.type)));
  std::string damage;
  CudaStatus status = poison_output();
  if (status.ok()) status = launch(slot, 0);
  if (status.ok()) status = d.stream.wait();
  if (status.ok())
    status = d.arena.read(d.offsets[d.output], bytes.data(), static_cast<std::int64_t>(bytes.size()));
  if (status.ok()) status = damage_around_output(damage);
  if (!status.ok()) return fault(FailureKind::kLaunch, status, &slot);
  if (!damage.empty()) {
    // Set 0's guards are spoilt now; the next candidate must not be blamed for it.
    make_sets();
    return Fault{{FailureKind::kWrongResult, fmt::format("{}: {}", slot.candidate.entry, damage), {}}, false};
  }
  const Comparison comparison = compare_output(problem_, bytes.data());
  if (!comparison.fault.empty()) return Fault{{FailureKind::kWrongResult, comparison.fault, {}}, false};
  return Checked{comparison.max_error};
}

CudaStatus CudaRunner::capture(const Slot& slot, std::int64_t launches, CudaGraph& graph) {
  const Device& d = *device_;
  if (const CudaStatus status = d.stream.begin_capture(); !status.ok()) return status;
  CudaStatus status;
  for (std::int64_t i = 0; i < launches && status.ok(); ++i) status = launch(slot, i % d.sets);
  const CudaStatus ended =
      d.stream.end_capture(graph);  // also after a failed launch: the stream must leave the mode
  return status.ok() ? ended : status;
}

CudaStatus CudaRunner::sample(const CudaGraph& graph, std::int64_t launches, double& us) {
  const Device& d = *device_;
  CudaStatus status = d.stream.fill(d.flush.address(), 0, d.flush.bytes());
  if (status.ok()) status = d.stream.record_begin();
  if (status.ok()) status = d.stream.launch(graph);
  if (status.ok()) status = d.stream.record_end();
  if (status.ok()) status = d.stream.wait();
  if (status.ok()) status = d.stream.elapsed_us(us);
  us /= static_cast<double>(launches);
  return status;
}

/// The warm-up call: one launch by itself, timed.
CudaStatus CudaRunner::time_one(const Slot& slot, double& us) {
  CudaGraph graph;
  if (const CudaStatus status = capture(slot, 1, graph); !status.ok()) return status;
  return sample(graph, 1, us);
}

std::variant<Samples, Fault> CudaRunner::time(int slot_number, const SampleRequest& request) {
  Slot& slot = loaded(slot_number);
  double warm_up_us = 0;
  if (const CudaStatus status = time_one(slot, warm_up_us); !status.ok()) {
    return fault(FailureKind::kLaunch, status, &slot);
  }
  Samples samples;
  samples.hopeless = request.hopeless_us > 0 && warm_up_us > request.hopeless_us;
  std::int64_t launches = 1;
  if (!settings_.cold) {
    const double wanted = std::ceil(request.sample_us / std::max(warm_up_us, 0.5));
    launches = static_cast<std::int64_t>(std::clamp(wanted, 1.0, static_cast<double>(kMaxLaunches)));
  }
  CudaGraph graph;
  if (const CudaStatus status = capture(slot, launches, graph); !status.ok()) {
    return fault(FailureKind::kLaunch, status, &slot);
  }
  double total_us = 0;
  const auto enough = [&] {
    const int taken = static_cast<int>(samples.us.size());
    if (taken >= request.few_samples && (samples.hopeless || total_us > request.max_total_us)) return true;
    return taken >= request.min_samples && total_us >= request.min_total_us;
  };
  while (!enough()) {
    double us = 0;
    if (const CudaStatus status = sample(graph, launches, us); !status.ok()) {
      return fault(FailureKind::kLaunch, status, &slot);
    }
    samples.us.push_back(us);
    // An empty kernel still counts, else a fake clock or a broken one would sample for ever.
    total_us += std::max(us, 0.5) * static_cast<double>(launches);
  }
  return samples;
}

static_assert(Runner<CudaRunner>);

}  // namespace lehr
