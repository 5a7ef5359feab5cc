// What answers for the shapes that a fused node was called with: a kernel of the bundle with what it needs
// between its calls, or nothing, which leaves it to the engine's operators.
#pragma once

#include <pthread.h>

#include <atomic>

#include "plugin/plan.h"
#include "plugin/prepacked.h"

namespace lehr::onnxruntime {

/// The prepacked parameters of a kernel, one behind the other. Kernels of one layout prepack the same of the
/// same inputs.
struct NodePrepacked {
  std::string_view layout;  ///< "": of one kernel alone
  Prepacked* packed = nullptr;
  NodePrepacked* next = nullptr;
};

/// A parameter of a kernel: which input it is, or where it lies in the prepacked memory.
struct VariantParam {
  std::uint32_t role = LEHR_IN;
  std::uint32_t input = 0;
  bool constant = false;  ///< it is read when the others are prepacked
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

/// Does not change once it is among those of a node.
struct Variant {
  Array<Shape> shapes;  ///< of the inputs, then of what each of the plan's nodes computes
  Shape output;
  lehr_kernel kernel = 0;  ///< 0: none
  std::uint32_t workers = 1;
  std::uint64_t scratch_bytes = 0;
  Array<VariantParam> params;
  const Prepacked* prepacked = nullptr;
  lehr_error why_not = {};  ///< the end of a sentence, where there is no kernel
  Variant* next = nullptr;
};

/// What a node is asked with: the addresses of those inputs that stay as they are, else nullptr.
struct VariantQuestion {
  const Plan& plan;
  const char* workload;
  std::uint32_t threads;
  std::uint32_t target;  ///< LEHR_CPU, LEHR_CUDA
  const Shape* shapes;
  void* const* constants;
};

/// Those of one node.
class Variants {
 public:
  /// More shapes than these are left to the engine: each may keep prepacked memory.
  static constexpr int kMost = 64;

  Variants() = default;
  ~Variants();
  Variants(const Variants&) = delete;
  Variants& operator=(const Variants&) = delete;

  /// Compares what the plan's nodes compute with the plan's own output. Where that is not the same, or not
  /// known, no shapes but the plan's are served, and those by a kernel alone: why_no_nodes() says why.
  void begin(const Plan& plan);
  const lehr_error& why_no_nodes() const { return why_no_nodes_; }  ///< "": the nodes' shapes are known

  /// The one for these shapes of the inputs; nullptr where there is none yet. Never waits.
  const Variant* known(const Shape* shapes, std::size_t inputs) const;
  /// Makes it, unless another call has done it meanwhile. nullptr with a sentence where there are too many,
  /// where there is no memory, and where the shapes are none that the operators take.
  const Variant* add(const VariantQuestion& question, lehr_error& error);

 private:
  bool fill(const VariantQuestion& question, Variant& variant, lehr_error& error);
  bool find_kernel(const VariantQuestion& question, bool planned, Variant& variant, lehr_error& error);
  bool prepack(const VariantQuestion& question, std::uint64_t bytes, Variant& variant, lehr_error& error);

  std::atomic<Variant*> first_ = nullptr;
  int count_ = 0;
  lehr_error why_no_nodes_ = {};
  NodePrepacked* packed_ = nullptr;
  pthread_mutex_t adding_ = PTHREAD_MUTEX_INITIALIZER;
};

/// The workload's text with the fields that follow these shapes; false with a sentence.
bool workload_for(const Plan& plan, const char* workload, const Shape* shapes, Array<char>& text,
                  lehr_error& error);

}  // namespace lehr::onnxruntime
