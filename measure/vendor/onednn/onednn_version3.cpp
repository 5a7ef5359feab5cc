// The API of version 3: descriptions are stored by the library, primitives are described in one call, and
// there are scales and post-ops.
#include "base/error.h"
#include "measure/vendor/onednn/onednn_primitives.h"

namespace lehr::onednn {
namespace {

struct Api3 : LibraryFunctions {
  Function<int(void**, int ndims, const std::int64_t* dims, int type, const std::int64_t* strides)>
      md_with_strides{this, "dnnl_memory_desc_create_with_strides"};
  Function<int(void**, int ndims, const std::int64_t* dims, int type, int tag)> md_with_tag{
      this, "dnnl_memory_desc_create_with_tag"};
  Function<int(void*)> md_destroy{this, "dnnl_memory_desc_destroy"};
  Function<int(void**, void* engine, int prop, int algorithm, MemoryDesc src, MemoryDesc weights,
               MemoryDesc bias, MemoryDesc dst, const std::int64_t* strides, const std::int64_t* dilates,
               const std::int64_t* padding_l, const std::int64_t* padding_r, const void* attributes)>
      convolution{this, "dnnl_convolution_forward_primitive_desc_create"};
  Function<int(void**, void* engine, int prop, MemoryDesc src, MemoryDesc weights, MemoryDesc bias,
               MemoryDesc dst, const void* attributes)>
      inner_product{this, "dnnl_inner_product_forward_primitive_desc_create"};
  Function<int(void**, void* engine, MemoryDesc src, MemoryDesc weights, MemoryDesc bias, MemoryDesc dst,
               const void* attributes)>
      matmul{this, "dnnl_matmul_primitive_desc_create"};
  Function<int(void**, void* engine, int prop, int algorithm, MemoryDesc src, MemoryDesc dst, int axis,
               const void* attributes)>
      softmax{this, "dnnl_softmax_forward_primitive_desc_create"};
  Function<int(void**, void* engine, int prop, MemoryDesc src, MemoryDesc dst, MemoryDesc statistics,
               float epsilon, unsigned flags, const void* attributes)>
      layer_normalization{this, "dnnl_layer_normalization_forward_primitive_desc_create"};
  Function<int(void**, void* engine, int prop, int algorithm, MemoryDesc src, MemoryDesc dst, float alpha,
               float beta, const void* attributes)>
      eltwise{this, "dnnl_eltwise_forward_primitive_desc_create"};
  Function<int(void**)> post_ops_create{this, "dnnl_post_ops_create"};
  Function<int(void*)> post_ops_destroy{this, "dnnl_post_ops_destroy"};
  Function<int(void*, int algorithm, float alpha, float beta)> append_eltwise{this,
                                                                              "dnnl_post_ops_append_eltwise"};
  Function<int(void*, int algorithm, MemoryDesc)> append_binary{this, "dnnl_post_ops_append_binary"};
  Function<int(void*, int arg, int mask)> set_scales_mask{this, "dnnl_primitive_attr_set_scales_mask"};
  Function<int(void*, int arg, int mask)> set_zero_points_mask{this,
                                                               "dnnl_primitive_attr_set_zero_points_mask"};
  Function<int(void*, const void* post_ops)> set_post_ops{this, "dnnl_primitive_attr_set_post_ops"};
};

class Primitives3 : public Primitives {
 public:
  explicit Primitives3(void* library) : Primitives(library) {
    if (const std::string_view missing = api3_.find(library); !missing.empty())
      throw_environment("oneDNN has no {}, which version 3 has", missing);
  }

  MemoryDesc strided(DType type, const Dims& dims, const Dims& strides) override {
    void* desc = nullptr;
    const int status = api3_.md_with_strides(&desc, static_cast<int>(dims.size()), dims.data(), code_of(type),
                                             strides.data());
    return owns(status, desc, api3_.md_destroy) ? desc : nullptr;
  }
  MemoryDesc any(DType type, const Dims& dims) override {
    void* desc = nullptr;
    const int status =
        api3_.md_with_tag(&desc, static_cast<int>(dims.size()), dims.data(), code_of(type), kTagAny);
    return owns(status, desc, api3_.md_destroy) ? desc : nullptr;
  }
  std::optional<const void*> attributes(const Extras& extras) override {
    const bool scales = extras.scales.data != nullptr, dst_scale = extras.dst_scale.data != nullptr;
    const bool src_zero = extras.src_zero.data != nullptr, dst_zero = extras.dst_zero.data != nullptr;
    if (!scales && !dst_scale && !src_zero && !dst_zero && extras.post_ops.empty()) return nullptr;
    void* const made = new_attributes();
    const bool right = made != nullptr &&
                       (!scales || api3_.set_scales_mask(made, kArgWeights, extras.scaled_dimensions) == 0) &&
                       (!dst_scale || api3_.set_scales_mask(made, kArgDst, 0) == 0) &&
                       (!src_zero || api3_.set_zero_points_mask(made, kArgSrc, 0) == 0) &&
                       (!dst_zero || api3_.set_zero_points_mask(made, kArgDst, 0) == 0) &&
                       add_post_ops(made, extras);
    if (!right) return std::nullopt;
    return made;
  }

  Primitive matmul(const Operands& of, const void* attributes) override {
    void* pd = nullptr;
    const int status = api3_.matmul(&pd, engine(), of.src, of.weights, of.bias, of.dst, attributes);
    return described(status, pd);
  }
  Primitive inner_product(const Operands& of, const void* attributes) override {
    void* pd = nullptr;
    const int status = api3_.inner_product(&pd, engine(), kForwardInference, of.src, of.weights, of.bias,
                                           of.dst, attributes);
    return described(status, pd);
  }
  Primitive convolution(const Operands& of, int algorithm, const Windows& windows,
                        const void* attributes) override {
    void* pd = nullptr;
    const int status = api3_.convolution(&pd, engine(), kForwardInference, algorithm, of.src, of.weights,
                                         of.bias, of.dst, windows.strides.data(), windows.dilates.data(),
                                         windows.before.data(), windows.after.data(), attributes);
    return described(status, pd);
  }
  Primitive softmax(MemoryDesc src, MemoryDesc dst, int algorithm) override {
    void* pd = nullptr;
    const int status = api3_.softmax(&pd, engine(), kForwardInference, algorithm, src, dst, 1, nullptr);
    return described(status, pd);
  }
  Primitive layer_normalization(MemoryDesc src, MemoryDesc dst, float epsilon, bool scale,
                                bool shift) override {
    const unsigned flags = (scale ? 2U : 0U) | (shift ? 4U : 0U);
    void* pd = nullptr;
    const int status = api3_.layer_normalization(&pd, engine(), kForwardInference, src, dst, nullptr, epsilon,
                                                 flags, nullptr);
    return described(status, pd);
  }
  Primitive eltwise(MemoryDesc src, MemoryDesc dst, const Eltwise& of) override {
    void* pd = nullptr;
    const int status =
        api3_.eltwise(&pd, engine(), kForwardInference, of.algorithm3, src, dst, of.alpha, of.beta, nullptr);
    return described(status, pd);
  }

 private:
  bool add_post_ops(void* attributes, const Extras& extras) {
    void* steps = nullptr;
    const int status = api3_.post_ops_create(&steps);
    if (!owns(status, steps, api3_.post_ops_destroy)) return false;
    for (const PostOp& step : extras.post_ops) {
      const int added = step.operand.data == nullptr
                            ? api3_.append_eltwise(steps, step.algorithm, step.alpha, step.beta)
                            : api3_.append_binary(steps, step.algorithm, step.operand.desc);
      if (added != 0) return false;
    }
    return api3_.set_post_ops(attributes, steps) == 0;
  }

  Api3 api3_;
};

}  // namespace

std::unique_ptr<Primitives> make_primitives3(void* library) {
  return std::make_unique<Primitives3>(library);
}

}  // namespace lehr::onednn
