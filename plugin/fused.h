// One fused node of a session: its plan, what answers for its shapes, and the engine's own operators.
#pragma once

#include "plugin/engine.h"
#include "plugin/engine_nodes.h"
#include "plugin/variants.h"
#include "plugin/workspaces.h"

namespace lehr::onnxruntime {

/// Calls since the process began.
struct Calls {
  std::atomic<std::uint64_t> by_kernels = 0;
  std::atomic<std::uint64_t> by_engine = 0;
};
Calls& calls();

class Fused {
 public:
  /// `makes`: of the operator that it is a node of.
  Fused(const OrtApi* api, std::uint32_t target, OrtElementType makes)
      : api_(api), target_(target), makes_(makes) {}
  ~Fused();
  Fused(const Fused&) = delete;
  Fused& operator=(const Fused&) = delete;

  /// Reads the node's attributes, finds its kernel and prepacks. nullptr, or a status for a node that is none
  /// of ours. That no kernel answers is no error.
  OrtStatus* create(const OrtKernelInfo* info);
  /// Computes the output. Calls may run at the same time.
  OrtStatus* run(OrtKernelContext* context);

 private:
  struct Call;
  bool read(const OrtKernelInfo* info, lehr_error& error);
  bool check_types(const OrtKernelInfo* info, lehr_error& error) const;
  bool take_constants(const OrtKernelInfo* info, lehr_error& error);
  bool take_inputs(const OrtKernelContext* context, Call& call, lehr_error& error) const;
  const Variant* variant_for(const Call& call, lehr_error& error);
  bool run_kernel(OrtKernelContext* context, const Call& call, const Variant& variant, lehr_error& error);
  bool run_nodes(OrtKernelContext* context, const Call& call, const Variant* variant, lehr_error& error);
  void say_why_not(const lehr_error& reason);

  const OrtApi* const api_;
  const std::uint32_t target_;
  const OrtElementType makes_;
  const OrtLogger* logger_ = nullptr;
  Array<char> name_;
  Array<char> workload_;
  std::uint32_t threads_ = 0;
  Plan plan_;
  bool is_constant_[Plan::kMostInputs] = {};
  void* constants_[Plan::kMostInputs] = {};  ///< their addresses; nullptr: not known before a call
  EngineNodes nodes_;
  Variants variants_;
  Workspaces workspaces_;
  std::atomic<bool> said_ = false;
};

}  // namespace lehr::onnxruntime
