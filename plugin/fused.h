// A fused node of a session: its attributes, and the function of a library that computes it.
#pragma once

#include <atomic>

#include "plugin/beside.h"
#include "plugin/prepacked.h"

namespace lehr::onnxruntime {

/// Number of calls that kernels have served since the process began.
extern std::atomic<std::uint64_t> kernel_calls;

class Fused {
 public:
  /// `target` is KERNELS_CPU or KERNELS_CUDA. `makes` is the output type of the node's operator.
  Fused(const OrtApi* api, std::uint32_t target, OrtElementType makes)
      : api_(api), target_(target), makes_(makes) {}
  ~Fused();
  Fused(const Fused&) = delete;
  Fused& operator=(const Fused&) = delete;

  /// Reads the node's attributes, finds its function in the library, and packs its constant operand. Returns
  /// nullptr on success, or a status if the node cannot be computed here.
  OrtStatus* create(const OrtKernelInfo* info);
  /// Computes the outputs. Calls may run at the same time.
  OrtStatus* run(OrtKernelContext* context);

 private:
  static constexpr std::size_t kMostInputs = 32, kMostOutputs = 4;
  struct Call;
  struct Input {
    Shape shape;  ///< shape of the initializer, or shape in the attribute; a dimension of 0 may have any size
    std::uint32_t tensor = 0;
    bool is_constant = false;
  };
  struct Output {
    Shape shape;  ///< shape in the attribute; a dimension of 0 stands for the first input's dimension
    std::uint32_t tensor = 0;
  };
  bool read(const OrtKernelInfo* info, Sentence& error);
  bool read_shapes(const OrtKernelInfo* info, Sentence& error);
  bool read_outputs(const OrtKernelInfo* info, Sentence& error);
  bool find_function(Sentence& error);
  bool match_tensors(const OrtKernelInfo* info, Sentence& error);
  bool check_planned(Sentence& error);
  bool take_constants(const OrtKernelInfo* info, Sentence& error);
  bool pack(const void* operand, Sentence& error);
  bool take_inputs(const OrtKernelContext* context, Call& call, Sentence& error) const;
  bool check_bytes(std::uint32_t tensor, const Shape& shape, std::uint64_t rows, Sentence& error) const;
  bool rows_of(const Shape& first, std::uint64_t& rows, Sentence& error) const;
  Shape shape_of_output(const Output& output, const Shape& first) const;
  bool take_outputs(OrtKernelContext* context, Call& call, Sentence& error) const;
  bool compute(OrtKernelContext* context, Sentence& error);
  bool run_here(OrtKernelContext* context, Call& call, Sentence& error);
  bool launch(OrtKernelContext* context, Call& call, Sentence& error);

  const OrtApi* const api_;
  const std::uint32_t target_;
  const OrtElementType makes_;
  Array<char> name_;
  Array<char> workload_;
  std::uint32_t threads_ = 0;
  Library* library_ = nullptr;
  const kernels_function* function_ = nullptr;
  Array<Input> inputs_;
  Array<Output> outputs_;
  bool any_open_ = false;        ///< whether the number of rows may differ from call to call
  Prepacked* packed_ = nullptr;  ///< memory of the packed tensor; nullptr: no tensor is packed
};

}  // namespace lehr::onnxruntime
