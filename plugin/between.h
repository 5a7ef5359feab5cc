// Operators between matches in bf16, which the engine has only in f32. Such a node belongs to the domain
// ai.lehr. Its operator's name, attributes and meaning are those of ONNX (version 22), and it has one output.
#pragma once

#include "plugin/windows.h"

namespace lehr::onnxruntime {

struct BetweenOperator {
  enum class Kind : std::uint8_t { kMaxPool, kAveragePool, kGlobalAveragePool, kAdd, kRelu } kind;
  const char* name;
  std::size_t inputs;
};
inline constexpr BetweenOperator kBetweenOperators[] = {
    {BetweenOperator::Kind::kMaxPool, "MaxPool", 1},
    {BetweenOperator::Kind::kAveragePool, "AveragePool", 1},
    {BetweenOperator::Kind::kGlobalAveragePool, "GlobalAveragePool", 1},
    {BetweenOperator::Kind::kAdd, "Add", 2},
    {BetweenOperator::Kind::kRelu, "Relu", 1}};

/// One node of a session on a processor.
class Between {
 public:
  using Kind = BetweenOperator::Kind;
  Between(const OrtApi* api, const BetweenOperator& op) : api_(api), op_(op) {}
  Between(const Between&) = delete;
  Between& operator=(const Between&) = delete;

  /// Reads the node's attributes. Returns nullptr on success, or a status.
  OrtStatus* create(const OrtKernelInfo* info);
  /// Computes the output. Calls may run at the same time.
  OrtStatus* run(OrtKernelContext* context) const;

 private:
  struct Call;
  bool compute(OrtKernelContext* context, Sentence& error) const;
  bool prepare(Call& call, Sentence& error) const;
  bool place_pool(Call& call, Sentence& error) const;

  const OrtApi* const api_;
  const BetweenOperator op_;
  Array<char> name_;
  PoolAttributes pool_;
};

}  // namespace lehr::onnxruntime
