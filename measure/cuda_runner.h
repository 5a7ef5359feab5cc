// Runs compiled CUDA candidates in a worker process: loads cubins, checks results, times launches. The Runner
// of runner.h for the target "cuda".
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "measure/cuda_driver.h"
#include "measure/runner.h"

namespace lehr {

/// How one launch is timed (kernels.md section 8). A sample is a graph of launches between two events. In
/// front of the first event the device fills a buffer of twice the L2: that evicts what the last sample left
/// behind, and keeps the device busy until the whole graph is queued, so that no launch waits for the host.
/// The launches of a sample take turns over sets of tensors that together exceed twice the L2: every launch
/// finds its inputs in DRAM, as a layer of a network does. RunSettings::cold restricts a sample to one
/// launch.
class CudaRunner {
 public:
  CudaRunner() : CudaRunner("libcuda.so.1") {}
  /// `driver_library` is opened in prepare(); another path than the default is for tests.
  explicit CudaRunner(std::string driver_library);
  ~CudaRunner();
  CudaRunner(const CudaRunner&) = delete;
  CudaRunner& operator=(const CudaRunner&) = delete;

  void prepare(const Problem& problem, const RunSettings& settings);
  std::variant<Resources, Fault> load(int slot, const Candidate& candidate);
  std::variant<Checked, Fault> check(int slot);
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request);
  void unload(int slot);

 private:
  struct Device;
  struct Slot {
    CudaKernel kernel;
    Candidate candidate;
  };

  Fault fault(FailureKind kind, CudaStatus status, const Slot* slot) const;
  Slot& loaded(int slot);
  void make_sets();
  CudaStatus launch(const Slot& slot, std::int64_t set);
  CudaStatus poison_output();
  CudaStatus damage_around_output(std::string& damage);
  CudaStatus time_one(const Slot& slot, double& us);
  CudaStatus sample(const class CudaGraph& graph, std::int64_t launches, double& us);
  CudaStatus capture(const Slot& slot, std::int64_t launches, CudaGraph& graph);

  std::string driver_library_;
  std::unique_ptr<Device> device_;
  Problem problem_;
  RunSettings settings_;
  std::map<int, Slot> slots_;
};

}  // namespace lehr
