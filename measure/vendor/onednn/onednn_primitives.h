// oneDNN's C API, found at run time and declared by hand; and what is made of it: an engine, a stream,
// primitives with their memory. What versions 2 and 3 do in other ways is in onednn_version2.cpp and
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
#include "measure/vendor/onednn/onednn_library.h"
#include "measure/vendor/onednn/onednn_way.h"

namespace lehr::onednn {

// dnnl_types.h, names as there; of the same value in versions 2.6 to 3.13.
inline constexpr int kTagAny = 1, kForwardInference = 96;
inline constexpr int kSrcMd = 129, kWeightsMd = 131, kDstMd = 133;
inline constexpr int kArgSrc = 1, kArgDst = 17, kArgWeights = 33;
inline constexpr int kSoftmax = 0x30000, kLogSoftmax = 0x30001;
inline constexpr int kDirect = 1, kWinograd = 2;
// Steps behind the sums, as version 3 numbers them.
inline constexpr int kRelu = 32, kLinear = 38, kClip = 46, kAdd = 0x1fff0;
/// dnnl_data_type_t; 0, which the library refuses, for what it is not called with.
int code_of(DType type);

using Dims = std::vector<std::int64_t>;
/// What the library knows of a tensor: type, sizes, layout. nullptr: it refuses it, and all that is made of
/// it.
using MemoryDesc = const void*;

/// dnnl_exec_arg_t.
struct ExecArg {
  int arg;
  void* memory;
};

/// What is the same in versions 2 and 3.
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

/// A primitive that can be made.
struct Primitive {
  void* pd = nullptr;  ///< tells which layouts it wants; nullptr: the library has none
  std::string kernel;  ///< in the library's words: "brgemm:avx2"
};

/// A convolution's sizes along the height and the width.
struct Windows {
  Dims strides, dilates, before, after;  ///< dilates: the pixels that are left out
};

/// The tensors of a primitive as it is described; a bias is none where it is nullptr.
struct Operands {
  MemoryDesc src = nullptr, weights = nullptr, dst = nullptr, bias = nullptr;
};

/// A tensor as it lies in memory; none where there is no `data`.
struct Tensor {
  MemoryDesc desc = nullptr;
  void* data = nullptr;
};

/// A step behind the sums, in f32: an eltwise of two numbers, or a sum with another tensor.
struct PostOp {
  int algorithm = 0;
  float alpha = 0, beta = 0;
  Tensor operand = {};
};

/// A function of elements, by its number in versions 2 and 3.
struct Eltwise {
  int algorithm2 = 0, algorithm3 = 0;
  float alpha = 0, beta = 0;
};

/// What a primitive does beside its sums: they are of (src - src_zero), are multiplied by `scales`, `bias` is
/// added, `post_ops` follow, and the output is dst_zero + what is left / dst_scale. What is normalized is
/// multiplied by `norm_scale`, and `norm_shift` is added.
struct Extras {
  Tensor src_zero = {}, scales = {}, bias = {}, dst_scale = {}, dst_zero = {};
  Tensor norm_scale = {}, norm_shift = {};
  int scaled_dimensions = 0;  ///< bits of the dimensions of the weights that `scales` has an element for
  std::vector<PostOp> post_ops = {};
};

/// An engine with its stream, and all that was made with them, which is destroyed with it.
class Primitives {
 public:
  virtual ~Primitives();
  Primitives(const Primitives&) = delete;
  Primitives& operator=(const Primitives&) = delete;

  /// A tensor with these strides, in elements.
  virtual MemoryDesc strided(DType type, const Dims& dims, const Dims& strides) = 0;
  /// A tensor in the layout that the primitive likes best.
  virtual MemoryDesc any(DType type, const Dims& dims) = 0;
  /// Attributes of a primitive that does `extras`; nullptr where it does none, nullopt where the library
  /// refuses, as version 2 does but for one kLinear without a beta.
  virtual std::optional<const void*> attributes(const Extras& extras) = 0;
  virtual Primitive matmul(const Operands& of, const void* attributes) = 0;
  virtual Primitive inner_product(const Operands& of, const void* attributes) = 0;
  virtual Primitive convolution(const Operands& of, int algorithm, const Windows& windows,
                                const void* attributes) = 0;
  /// Along the last of two dimensions, as the next one; `algorithm`: kSoftmax or kLogSoftmax.
  virtual Primitive softmax(MemoryDesc src, MemoryDesc dst, int algorithm) = 0;
  virtual Primitive layer_normalization(MemoryDesc src, MemoryDesc dst, float epsilon, bool scale,
                                        bool shift) = 0;
  virtual Primitive eltwise(MemoryDesc src, MemoryDesc dst, const Eltwise& of) = 0;
  /// Values that it keeps.
  float* kept(std::vector<float> values);
  Tensor number(std::int32_t value);

  /// The steps of a call: `src` and `dst` are copied to and from the layouts that `primitive` wants within
  /// it, `weights`, if there are any, are copied beforehand, now. None where the library refuses.
  std::vector<Step> steps_of(const Primitive& primitive, const Tensor& src, const Tensor& weights,
                             const Tensor& dst, const Extras& extras);
  /// One after the other; a step that fails is the last one.
  void run(const std::vector<Step>& steps) const;

 protected:
  /// `library` is dlopen's. Throws Error(kEnvironment) when it has no such functions.
  explicit Primitives(void* library);
  void* engine() const { return engine_; }
  bool are_equal(MemoryDesc one, MemoryDesc other) const { return api_.md_equal(one, other) != 0; }
  /// Whether the library made `object`, which is then destroyed with this.
  bool owns(int status, void* object, int (*destroy)(void*));
  /// A new value of attributes; nullptr where the library refuses.
  void* new_attributes();
  /// What `pd` is, the result of describing a primitive.
  Primitive described(int status, void* pd);

 private:
  /// `have` as `primitive` wants it (kSrcMd, ...): the same memory, or new memory and a step in `steps` that
  /// copies; `back`: the other way round.
  void* adapted(const Tensor& have, const Primitive& primitive, int wanted, bool back,
                std::vector<Step>& steps);
  void* memory(MemoryDesc desc, void* handle);
  void* made_of(const void* pd);

  Api api_;
  void* engine_ = nullptr;
  void* stream_ = nullptr;
  std::deque<std::vector<float>> values_;
  std::deque<std::int32_t> numbers_;
  std::vector<std::pair<int (*)(void*), void*>> made_;  ///< what to destroy by what, newest last
};

/// Through the API of the library's version. Throws Error(kEnvironment) when it lacks a function of it.
std::shared_ptr<Primitives> make_primitives(const OneDnnLibrary& library);
std::unique_ptr<Primitives> make_primitives2(void* library);
std::unique_ptr<Primitives> make_primitives3(void* library);

/// Adds what `primitive` is as a way; nothing where the library refuses, or has nothing but its reference
/// implementation, which nobody would time.
void add_way(std::vector<Way>& ways, const std::shared_ptr<Primitives>& primitives, const std::string& name,
             const Primitive& primitive, const Tensor& src, const Tensor& weights, const Tensor& dst,
             const Extras& extras);

}  // namespace lehr::onednn
