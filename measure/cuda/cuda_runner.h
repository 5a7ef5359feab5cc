// Runs compiled CUDA candidates in a worker process: loads cubins and launches them. Runner "cuda".
#pragma once

#include <map>
#include <optional>
#include <variant>

#include "measure/core/runner.h"
#include "measure/cuda/cuda_arena.h"
#include "measure/cuda/cuda_harness.h"

namespace lehr {

class CudaRunner : public Runner {
 public:
  explicit CudaRunner(CudaLibraries libraries = {});

  void open(const RunSettings& settings) override { harness_.open(settings); }
  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::string checked_by() const override { return harness_.checked_by(); }
  std::optional<Fault> damage_by_another() const override { return harness_.damage_by_another(); }
  std::variant<Resources, Fault> load(int slot, const Candidate& candidate) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<std::vector<RunOutput>, Fault> output() const override { return harness_.output(); }
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;
  std::variant<Checked, Fault> check_left(int slot) override;
  std::variant<Checked, Fault> check_by_host(int slot) override;
  void replace_inputs(const Problem& problem) override;
  void unload(int slot) override;

 private:
  struct Slot {
    CudaKernel kernel;
    Candidate candidate;
    CudaArena workspace;
  };
  Slot& loaded(int slot);
  /// Fills the workspaces with zeros, which is their state before a kernel's first launch.
  std::optional<Fault> place_workspace(Slot& slot) const;
  CudaHarness::Call call_of(const Slot& slot) const;

  CudaHarness harness_;
  std::map<int, Slot> slots_;  ///< destroyed first: modules must be unloaded before the context is released
};

}  // namespace lehr
