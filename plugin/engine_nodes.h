// The engine's own operators, which compute what a fused node computes where no kernel does.
#pragma once

#include "plugin/engine.h"

namespace lehr::onnxruntime {

class EngineNodes {
 public:
  EngineNodes() = default;
  ~EngineNodes();
  EngineNodes(const EngineNodes&) = delete;
  EngineNodes& operator=(const EngineNodes&) = delete;

  /// Asks the engine for an operator per node, which it does only while the fused node's kernel is created.
  /// What it refuses is said by run(). `plan` has to outlive this.
  void create(const OrtApi* api, const OrtKernelInfo* info, const Plan& plan);

  /// Computes `output` of `inputs`. `shapes`: all_shapes() of these inputs. False with a sentence. Calls may
  /// run at the same time.
  bool run(const OrtKernelContext* context, const OrtValue* const* inputs, const Shape* shapes,
           OrtValue* output, lehr_error& error) const;

 private:
  bool create_all(const OrtKernelInfo* info, lehr_error& error);
  bool create_constant(const PlanConstant& value, const OrtMemoryInfo* memory, lehr_error& error);
  OrtOp* create_one(const OrtKernelInfo* info, const PlanNode& node, lehr_error& error) const;
  bool create_attributes(const PlanNode& node, Array<OrtOpAttr*>& attributes, lehr_error& error) const;
  OrtOp* create_version(const OrtKernelInfo* info, const PlanNode& node, const Array<OrtOpAttr*>& attributes,
                        lehr_error& error) const;

  const OrtApi* api_ = nullptr;
  const Plan* plan_ = nullptr;
  Array<OrtOp*> ops_;
  Array<OrtValue*> constants_;
  lehr_error why_not_ = no_error();  ///< "": all of them are there
};

}  // namespace lehr::onnxruntime
