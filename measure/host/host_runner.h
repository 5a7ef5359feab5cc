// Runs compiled CPU candidates: shared objects with the entry that codegen/source.h describes. It is the
// runner "cpu".
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "measure/core/runner.h"
#include "measure/host/cache_sweep.h"
#include "measure/host/host_buffers.h"
#include "measure/system/pinned_threads.h"

namespace lehr {

/// Candidates share the problem's buffers. Each candidate has its own scratch memory for every thread.
class HostRunner : public Runner {
 public:
  HostRunner();
  ~HostRunner() override;

  void prepare(const Problem& problem, const RunSettings& settings) override;
  std::optional<Fault> damage_by_another() const override;
  std::variant<Resources, Fault> load(int slot, const Candidate& candidate) override;
  std::variant<Checked, Fault> check(int slot) override;
  std::variant<std::vector<RunOutput>, Fault> output() const override;
  std::variant<Samples, Fault> time(int slot, const SampleRequest& request) override;
  std::variant<Checked, Fault> check_left(int slot) override;
  void replace_inputs(const Problem& problem) override;
  void unload(int slot) override;

 private:
  struct Loaded;
  using Entry = void (*)(void* const* params, void* scratch, long work_item);

  /// Runs the work items of one step. `first` is the number of the step's first work item.
  static void run_work_items(PinnedThreads& threads, Entry entry, const Loaded& loaded, long work_items,
                             long first = 0);
  void call(const Loaded& loaded);
  /// Returns the kernel in the slot. If the inputs were replaced, prepacks them first.
  Loaded& packed(int slot);
  /// Returns a fault if the kernel wrote outside of its own memory.
  std::optional<Fault> damage(const Loaded& loaded) const;
  /// Calls the kernel once, after scratch memory, workspaces and outputs were poisoned, and checks the
  /// outputs.
  std::variant<Checked, Fault> check_call(Loaded& loaded, std::int64_t rows);

  std::vector<int> cpus_;  ///< read once, because the threads bind the calling thread to one CPU
  std::unique_ptr<PinnedThreads> threads_;
  std::unique_ptr<HostBuffers> buffers_;
  std::int64_t inputs_ = 0;  ///< number of calls of prepare() and replace_inputs()
  CacheSweep sweep_;
  std::map<int, std::unique_ptr<Loaded>> slots_;
};

}  // namespace lehr
