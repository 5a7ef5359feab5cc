// The common part of all CUDA runners: device, problem, check and clock. A runner only has to launch one call
// on the stream.
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

/// The libraries that are opened. Only tests set other names.
struct CudaLibraries {
  std::string driver = "libcuda.so.1";
  std::string nvml = "libnvidia-ml.so.1";
};

/// Times calls, following CUTLASS's guidelines for measuring GEMMs (media/docs/
/// gemm_performance_measurement_methodology_guidelines.md). A sample is a graph of calls between two events.
/// Before the first event the device fills a buffer of twice the L2's size. That evicts the data of the last
/// sample, and keeps the device busy until the whole graph is queued, so that no launch waits for the host.
/// The calls of a sample use several sets of tensors in turn, which together exceed twice the L2. So each
/// call finds its inputs in DRAM, as a layer of a network does. With RunSettings::cold a sample is one call.
class CudaHarness {
 public:
  /// Launches one call on stream(), with the tensors of set `set`. Returns a Fault if the launch was refused.
  /// Also called while the stream is being captured.
  using Call = std::function<std::optional<Fault>(std::int64_t set)>;

  explicit CudaHarness(CudaLibraries libraries = {});
  ~CudaHarness();
  CudaHarness(const CudaHarness&) = delete;
  CudaHarness& operator=(const CudaHarness&) = delete;

  /// Makes the device's context. Throws as prepare() does.
  void open(const RunSettings& settings);
  /// Places a problem. If the problem has no values, they are made here: on the device if RunSettings::check
  /// has kernels that pass their drill, else on the host. Throws Error(kEnvironment) if the driver, the
  /// device or memory for the tensors is missing.
  void prepare(const Problem& problem, const RunSettings& settings);
  /// Returns Runner::checked_by().
  const std::string& checked_by() const { return checked_by_; }
  bool prepared() const { return device_ != nullptr; }

  const CudaDriver& driver() const;
  const CudaStream& stream() const;
  const CudaTensors& tensors() const { return tensors_; }
  const Problem& problem() const { return problem_; }

  /// Makes one call with poisoned outputs. Then checks the outputs and the guards. `who` begins the text of a
  /// fault.
  std::variant<Checked, Fault> check(const Call& call, const std::string& who);
  /// Implements Runner::check_by_host().
  std::variant<Checked, Fault> check_by_host(const Call& call, const std::string& who);
  /// Checks the outputs that the calls of time() left in set 0, and the guards of set 0. If an argument is
  /// changed in place, outputs are not checked.
  std::variant<Checked, Fault> check_left(const std::string& who);
  /// Implements Runner::damage_by_another().
  std::optional<Fault> damage_by_another() const;
  /// Places other inputs in tensors of the same sizes. The tensors' addresses may change.
  void replace(const Problem& problem);
  /// Returns the outputs of the last check().
  std::variant<std::vector<RunOutput>, Fault> output() const;
  std::variant<Samples, Fault> time(const Call& call, const SampleRequest& request, const std::string& who);
  /// Returns the fault of candidate `who` for a driver call that failed.
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
  CudaChecker checker_;  ///< destroyed before the device
  std::string checked_by_ = "host";
  Problem problem_;
  RunSettings settings_;
};

}  // namespace lehr
