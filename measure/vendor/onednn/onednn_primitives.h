// oneDNN's C API, version 2, found at run time and declared by hand; and what is made of it: an engine, a
// stream, primitives with their memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "measure/system/shared_library.h"

namespace lehr::onednn {

// oneDNN 2.x, dnnl_types.h: names as there.
inline constexpr int kF32 = 3, kTagAny = 1, kForwardInference = 96;
inline constexpr int kSrcMd = 129, kWeightsMd = 131, kDstMd = 133;
inline constexpr int kArgSrc = 1, kArgDst = 17, kArgWeights = 33;
using Dims = std::array<std::int64_t, 12>;
// Opaque here: the library fills them in, and they are only handed back to it. Larger than
// dnnl_memory_desc_t (about 700 bytes) and dnnl_convolution_desc_t, the largest of its kind (about 6 KB).
struct alignas(16) MemoryDesc {
  std::array<char, 4096> bytes{};
};
struct alignas(16) OperationDesc {
  std::array<char, 32768> bytes{};
};
struct ExecArg {
  int arg;
  void* memory;
};

struct Api : LibraryFunctions {
  Function<int(void**, int kind, std::size_t index)> engine_create{this, "dnnl_engine_create"};
  Function<int(void**, void* engine, unsigned flags)> stream_create{this, "dnnl_stream_create"};
  Function<int(void*)> stream_wait{this, "dnnl_stream_wait"};
  Function<int(MemoryDesc*, int ndims, const Dims&, int type, const Dims& strides)> md_by_strides{
      this, "dnnl_memory_desc_init_by_strides"};
  Function<int(MemoryDesc*, int ndims, const Dims&, int type, int tag)> md_by_tag{
      this, "dnnl_memory_desc_init_by_tag"};
  Function<int(const void*, const void*)> md_equal{this, "dnnl_memory_desc_equal"};
  Function<int(OperationDesc*, int prop, int algorithm, const MemoryDesc* src, const MemoryDesc* weights,
               const MemoryDesc* bias, const MemoryDesc* dst, const Dims& strides, const Dims& dilates,
               const Dims& padding_l, const Dims& padding_r)>
      convolution{this, "dnnl_dilated_convolution_forward_desc_init"};
  Function<int(OperationDesc*, int prop, const MemoryDesc* src, const MemoryDesc* weights,
               const MemoryDesc* bias, const MemoryDesc* dst)>
      inner_product{this, "dnnl_inner_product_forward_desc_init"};
  Function<int(OperationDesc*, const MemoryDesc* src, const MemoryDesc* weights, const MemoryDesc* bias,
               const MemoryDesc* dst)>
      matmul{this, "dnnl_matmul_desc_init"};
  Function<int(void**)> attributes_create{this, "dnnl_primitive_attr_create"};
  Function<int(void*, std::int64_t count, int mask, const float*)> attributes_set_scales{
      this, "dnnl_primitive_attr_set_output_scales"};
  Function<int(void**, const OperationDesc*, const void* attributes, void* engine, const void* hint)>
      pd_create{this, "dnnl_primitive_desc_create"};
  Function<const void*(const void*, int what, int index)> pd_query_md{this, "dnnl_primitive_desc_query_md"};
  Function<int(void**, const void* pd)> primitive_create{this, "dnnl_primitive_create"};
  Function<int(const void*, void* stream, int count, const ExecArg*)> primitive_execute{
      this, "dnnl_primitive_execute"};
  Function<int(void**, const void* md, void* engine, void* handle)> memory_create{this, "dnnl_memory_create"};
  Function<int(void**, const void* src_md, void* src_engine, const void* dst_md, void* dst_engine,
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

/// An engine with its stream, and all that was made with them, which is destroyed with it.
class Primitives {
 public:
  /// `library` is dlopen's. Throws Error(kEnvironment) when it has no such API (versions before and after 2).
  explicit Primitives(void* library);
  ~Primitives();
  Primitives(const Primitives&) = delete;
  Primitives& operator=(const Primitives&) = delete;

  const Api& api() const { return api_; }
  /// One after the other; a step that fails is the last one.
  void run(const std::vector<Step>& steps) const;
  /// What `pd`, the result of describing an operation, is as a primitive. nullptr when the library refuses,
  /// as for all that follows.
  struct Primitive {
    void* primitive = nullptr;
    void* pd = nullptr;  ///< tells which layouts it wants
  };
  Primitive primitive(const OperationDesc& operation, const void* attributes = nullptr);
  /// Those that scale what is computed.
  void* scaled(float scale);
  /// `handle`, of layout `have`, as a primitive `wanted` it (kSrcMd, ...): the same memory, or new memory and
  /// a step in `steps` that copies; `back`: the other way round.
  void* adapted(const MemoryDesc& have, void* handle, const Primitive& primitive, int wanted, bool back,
                std::vector<Step>& steps);

 private:
  /// Whether the library made `object`, which is then destroyed with this.
  bool owns(int status, void* object, int (*destroy)(void*));
  void* memory(const void* md, void* handle);
  void* made_of(int pd_status, void* pd);

  Api api_;
  void* engine_ = nullptr;
  void* stream_ = nullptr;
  std::vector<std::pair<int (*)(void*), void*>> made_;  ///< what to destroy by what, newest last
};

}  // namespace lehr::onednn
