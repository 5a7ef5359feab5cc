// What all CUDA runners share: the device, the problem on it, the check and the clock. A runner says how one
// call is put on the stream.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "measure/core/runner.h"
#include "measure/cuda/cuda_checker.h"
#include "measure/cuda/cuda_driver.h"
#include "measure/cuda/cuda_tensors.h"
#include "measure/cuda/nvml.h"

namespace lehr {

/// Which libraries are opened; others than these are for tests.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string nvml = "libnvidia-ml.so.1";
};

/// How one call is timed, after CUTLASS's guidelines for measuring GEMMs (media/docs/
/// gemm_performance_measurement_methodology_guidelines.md). A sample is a graph of calls between two events.
/// In front of the first event the device fills a buffer of twice the L2: that evicts what the last sample
/// left behind, and keeps the device busy until the whole graph is queued, so that no launch waits for the
/// host. The calls of a sample take turns over sets of tensors that together exceed twice the L2: every call
/// finds its inputs in DRAM, as a layer of a network does. RunSettings::cold restricts a sample to one call.
class CudaHarness {
 public:
  /// Puts one call on stream(), with the tensors of set `set`; a Fault when it was refused. Called while the
  /// stream is being captured as well.
  using Call = std::function<std::optional<Fault>(std::int64_t set)>;

  explicit CudaHarness(CudaLibraries libraries = {});
  ~CudaHarness();
  CudaHarness(const CudaHarness&) = delete;
  CudaHarness& operator=(const CudaHarness&) = delete;

  /// Makes the device's context. Throws as prepare().
  void open(const RunSettings& settings);
  /// A problem that is only asked for is made here: by the device, where RunSettings::check has kernels that
  /// stand their drill, else by the host. Throws Error(kEnvironment) when the driver, the device or memory
  /// for the tensors is missing.
  void prepare(const Problem& problem, const RunSettings& settings);
  /// Runner::checked_by().
  const std::string& checked_by() const { return checked_by_; }
  bool prepared() const { return device_ != nullptr; }

  const CudaDriver& driver() const;
  const CudaStream& stream() const;
  const CudaTensors& tensors() const { return tensors_; }
  const Problem& problem() const { return problem_; }

  /// One call on poisoned output; compares it and the guards. `who` begins the text of a fault.
  std::variant<Checked, Fault> check(const Call& call, const std::string& who);
  /// Runner::check_by_host().
  std::variant<Checked, Fault> check_by_host(const Call& call, const std::string& who);
  /// What the calls of time() left in the set that is checked, and its guards; nothing is asked of outputs
  /// where one is changed in place.
  std::variant<Checked, Fault> check_left(const std::string& who);
  /// Runner::damage_by_another().
  std::optional<Fault> damage_by_another() const;
  /// Other inputs in tensors of the same sizes; addresses may be others.
  void replace(const Problem& problem);
  /// What the last check() computed.
  std::variant<std::vector<RunOutput>, Fault> output() const;
  std::variant<Samples, Fault> time(const Call& call, const SampleRequest& request, const std::string& who);
  /// What a failed driver call means for the candidate `who`.
  Fault fault(FailureKind kind, CudaStatus status, const std::string& who) const;

 private:
  struct Device;

  void place();
  void place_tensors();
  bool place_by_device();
  bool by_device() const { return checked_by_ == "device"; }
  std::variant<Checked, Fault> look(const std::string& who, bool outputs);
  std::variant<Checked, Fault> compared(const Problem& problem, const std::string& who) const;
  std::variant<Checked, Fault> judged(const DeviceFindings& seen, const std::string& who, bool outputs);
  std::variant<Checked, Fault> damaged(const std::string& what, const std::string& who);
  std::optional<Fault> capture(const Call& call, std::int64_t calls, const std::string& who,
                               CudaGraph& graph) const;
  CudaStatus sample(const CudaGraph& graph, std::int64_t calls, double& us) const;
  std::variant<double, Fault> warm_up_us(const Call& call, const std::string& who) const;
  std::optional<GpuState> state_while_busy(const CudaGraph& graph) const;

  CudaLibraries libraries_;
  std::unique_ptr<Device> device_;
  CudaTensors tensors_;  ///< destroyed before the device
  CudaChecker checker_;  ///< the same
  std::string checked_by_ = "host";
  Problem problem_;
  RunSettings settings_;
};

}  // namespace lehr
