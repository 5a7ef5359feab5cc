// oneDNN's C API, loaded at run time and declared by hand, and the objects made with it: an engine, a stream,
// and primitives with their memory. The differences between versions 2 and 3 are in onednn_version2.cpp and
// onednn_version3.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/dtype.h"
#include "measure/system/shared_library.h"
#include "measure/vendor/onednn/onednn_algorithm.h"
#include "measure/vendor/onednn/onednn_library.h"

namespace lehr::onednn {

// Constants of dnnl_types.h. The values are the same in versions 2.6 to 3.13.
inline constexpr int kTagAny = 1, kForwardInference = 96;
inline constexpr int kSrcMd = 129, kWeightsMd = 131, kDstMd = 133;
inline constexpr int kArgSrc = 1, kArgDst = 17, kArgWeights = 33;
inline constexpr int kSoftmax = 0x30000, kLogSoftmax = 0x30001;
inline constexpr int kDirect = 1, kWinograd = 2;
// Post-ops, with the numbers of version 3.
inline constexpr int kRelu = 32, kLinear = 38, kClip = 46, kAdd = 0x1fff0;
/// Returns dnnl_data_type_t. Returns 0, which the library refuses, for a type that the library is not called
/// with.
int code_of(DType type);

using Dims = std::vector<std::int64_t>;
/// The library's description of a tensor: type, sizes, layout. nullptr: the library refuses it. The library
/// then also refuses everything that is described with it.
using MemoryDesc = const void*;

/// dnnl_exec_arg_t.
struct ExecArg {
  int arg;
  void* memory;
};

/// The functions that are the same in versions 2 and 3.
struct Api : LibraryFunctions {
  Function<int(void**, int kind, std::size_t index)> engine_create{this, "dnnl_engine_create"};
  Function<int(void**, void* engine, unsigned flags)> stream_create{this, "dnnl_stream_create"};
  Function<int(void*)> stream_wait{this, "dnnl_stream_wait"};
  Function<int(MemoryDesc, MemoryDesc)> md_equal{this, "dnnl_memory_desc_equal"};
  Function<int(void**)> attributes_create{this, "dnnl_primitive_attr_create"};
  Function<int(const void*, int what, int index, void* result)> pd_query{this, "dnnl_primitive_desc_query"};
  Function<MemoryDesc(const void*, int what, int index)> pd_query_md{this, "dnnl_primitive_desc_query_md"};
  Function<int(void**, const void* pd)> primitive_create{this, "dnnl_primitive_create"};
  Function<int(void*, void* stream, int count, const ExecArg*)> primitive_execute{this,
                                                                                  "dnnl_primitive_execute"};
  Function<int(void**, MemoryDesc, void* engine, void* handle)> memory_create{this, "dnnl_memory_create"};
  Function<int(void**, MemoryDesc src, void* src_engine, MemoryDesc dst, void* dst_engine,
               const void* attributes)>
      reorder_pd{this, "dnnl_reorder_primitive_desc_create"};
  Function<int(void*)> engine_destroy{this, "dnnl_engine_destroy"};
  Function<int(void*)> stream_destroy{this, "dnnl_stream_destroy"};
  Function<int(void*)> pd_destroy{this, "dnnl_primitive_desc_destroy"};
  Function<int(void*)> primitive_destroy{this, "dnnl_primitive_destroy"};
  Function<int(void*)> attributes_destroy{this, "dnnl_primitive_attr_destroy"};
  Function<int(void*)> memory_destroy{this, "dnnl_memory_destroy"};
};

struct Step {
  void* primitive;
  std::vector<ExecArg> args;
};

/// The description of a primitive.
struct Primitive {
  /// Knows which layouts the primitive wants; nullptr: the library has no such primitive.
  void* pd = nullptr;
  std::string kernel;  ///< in the library's words: "brgemm:avx2"
};

/// A convolution's sizes along the height and the width.
struct Windows {
  Dims strides, dilates, before, after;  ///< dilates: the number of skipped pixels
};

/// The tensors in a primitive's description. If `bias` is nullptr, there is no bias.
struct Operands {
  MemoryDesc src = nullptr, weights = nullptr, dst = nullptr, bias = nullptr;
};

/// A tensor in memory. If `data` is nullptr, there is no tensor.
struct Tensor {
  MemoryDesc desc = nullptr;
  void* data = nullptr;
};

/// An f32 step after the sums: an eltwise with the parameters `alpha` and `beta`, or the addition of
/// `operand`.
struct PostOp {
  int algorithm = 0;
  float alpha = 0, beta = 0;
  Tensor operand = {};
};

/// A function of elements, with its algorithm numbers in versions 2 and 3.
struct Eltwise {
  int algorithm2 = 0, algorithm3 = 0;
  float alpha = 0, beta = 0;
};

/// Additions to a primitive. The primitive sums products with (src - src_zero). The sums are multiplied by
/// `scales`, `bias` is added, and `post_ops` follow. The output is dst_zero + result / dst_scale. A
/// normalized value is multiplied by `norm_scale`, and `norm_shift` is added.
struct Extras {
  Tensor src_zero = {}, scales = {}, bias = {}, dst_scale = {}, dst_zero = {};
  Tensor norm_scale = {}, norm_shift = {};
  int scaled_dimensions = 0;  ///< bit mask of the weights' dimensions along which `scales` varies
  std::vector<PostOp> post_ops = {};
};

/// An engine with its stream, and all objects that were made with them. The objects are destroyed with this
/// one.
class Primitives {
 public:
  virtual ~Primitives();
  Primitives(const Primitives&) = delete;
  Primitives& operator=(const Primitives&) = delete;

  /// Returns the description of a tensor with these strides, in elements.
  virtual MemoryDesc strided(DType type, const Dims& dims, const Dims& strides) = 0;
  /// Returns the description of a tensor whose layout the primitive may choose.
  virtual MemoryDesc any(DType type, const Dims& dims) = 0;
  /// Returns the attributes of a primitive with `extras`; nullptr if no attributes are needed. Returns
  /// nullopt if the library refuses them; version 2 refuses all but a single kLinear without a beta.
  virtual std::optional<const void*> attributes(const Extras& extras) = 0;
  virtual Primitive matmul(const Operands& of, const void* attributes) = 0;
  virtual Primitive inner_product(const Operands& of, const void* attributes) = 0;
  virtual Primitive convolution(const Operands& of, int algorithm, const Windows& windows,
                                const void* attributes) = 0;
  /// softmax() and layer_normalization() work along the last of two dimensions. `algorithm` is kSoftmax or
  /// kLogSoftmax.
  virtual Primitive softmax(MemoryDesc src, MemoryDesc dst, int algorithm) = 0;
  virtual Primitive layer_normalization(MemoryDesc src, MemoryDesc dst, float epsilon, bool scale,
                                        bool shift) = 0;
  virtual Primitive eltwise(MemoryDesc src, MemoryDesc dst, const Eltwise& of) = 0;
  /// Keeps `values` as long as this object lives, and returns their address.
  float* kept(std::vector<float> values);
  Tensor number(std::int32_t value);

  /// Returns the steps of a call. Within the call `src` and `dst` are copied to and from the layouts that
  /// `primitive` wants. `weights`, if there are any, are copied now. Returns no steps if the library refuses.
  std::vector<Step> steps_of(const Primitive& primitive, const Tensor& src, const Tensor& weights,
                             const Tensor& dst, const Extras& extras);
  /// Runs the steps one after the other until a step fails.
  void run(const std::vector<Step>& steps) const;

 protected:
  /// `library` is the result of dlopen. Throws Error(kEnvironment) if it lacks a function.
  explicit Primitives(void* library);
  void* engine() const { return engine_; }
  bool are_equal(MemoryDesc one, MemoryDesc other) const { return api_.md_equal(one, other) != 0; }
  /// Whether the library made `object`. If so, this takes ownership.
  bool owns(int status, void* object, int (*destroy)(void*));
  /// Returns new attributes; nullptr if the library refuses.
  void* new_attributes();
  /// Returns the primitive of `pd`. `status` is the result of the call that made `pd`.
  Primitive described(int status, void* pd);

 private:
  /// Returns the tensor `have` in the layout that `primitive` wants for `wanted` (kSrcMd, ...). It is the
  /// same memory, or new memory and a step in `steps` that copies `have` to it. If `back` is true, the step
  /// copies the new memory to `have`.
  void* adapted(const Tensor& have, const Primitive& primitive, int wanted, bool back,
                std::vector<Step>& steps);
  void* memory(MemoryDesc desc, void* handle);
  void* made_of(const void* pd);

  Api api_;
  void* engine_ = nullptr;
  void* stream_ = nullptr;
  std::deque<std::vector<float>> values_;
  std::deque<std::int32_t> numbers_;
  /// For each object the function that destroys it, newest last.
  std::vector<std::pair<int (*)(void*), void*>> made_;
};

/// Makes primitives with the API of the library's version. Throws Error(kEnvironment) if the library lacks a
/// function of that API.
std::shared_ptr<Primitives> make_primitives(const OneDnnLibrary& library);
std::unique_ptr<Primitives> make_primitives2(void* library);
std::unique_ptr<Primitives> make_primitives3(void* library);

/// Adds `primitive` as an algorithm. Adds nothing if the library refuses it, or only has its reference
/// implementation, which is too slow to be worth timing.
void add_algorithm(std::vector<Algorithm>& algorithms, const std::shared_ptr<Primitives>& primitives,
                   const std::string& name, const Primitive& primitive, const Tensor& src,
                   const Tensor& weights, const Tensor& dst, const Extras& extras);

}  // namespace lehr::onednn
