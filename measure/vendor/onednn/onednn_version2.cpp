// The API of version 2: descriptions are stored by the caller, and primitives are described in two calls.
#include <array>
#include <deque>

#include "base/error.h"
#include "measure/vendor/onednn/onednn_primitives.h"

namespace lehr::onednn {
namespace {

// The library fills these structures in, and they are only handed back to it. They are larger than
// dnnl_memory_desc_t (about 700 bytes) and dnnl_convolution_desc_t (about 6 KB), which is the largest
// operation description.
struct alignas(16) MemoryDesc2 {
  std::array<char, 4096> bytes{};
};
struct alignas(16) OperationDesc {
  std::array<char, 32768> bytes{};
};

struct Api2 : LibraryFunctions {
  Function<int(MemoryDesc2*, int ndims, const std::int64_t* dims, int type, const std::int64_t* strides)>
      md_by_strides{this, "dnnl_memory_desc_init_by_strides"};
  Function<int(MemoryDesc2*, int ndims, const std::int64_t* dims, int type, int tag)> md_by_tag{
      this, "dnnl_memory_desc_init_by_tag"};
  Function<int(OperationDesc*, int prop, int algorithm, MemoryDesc src, MemoryDesc weights, MemoryDesc bias,
               MemoryDesc dst, const std::int64_t* strides, const std::int64_t* dilates,
               const std::int64_t* padding_l, const std::int64_t* padding_r)>
      convolution{this, "dnnl_dilated_convolution_forward_desc_init"};
  Function<int(OperationDesc*, int prop, MemoryDesc src, MemoryDesc weights, MemoryDesc bias, MemoryDesc dst)>
      inner_product{this, "dnnl_inner_product_forward_desc_init"};
  Function<int(OperationDesc*, MemoryDesc src, MemoryDesc weights, MemoryDesc bias, MemoryDesc dst)> matmul{
      this, "dnnl_matmul_desc_init"};
  Function<int(OperationDesc*, int prop, int algorithm, MemoryDesc src, MemoryDesc dst, int axis)> softmax{
      this, "dnnl_softmax_v2_forward_desc_init"};
  Function<int(OperationDesc*, int prop, MemoryDesc data, MemoryDesc statistics, float epsilon,
               unsigned flags)>
      layer_normalization{this, "dnnl_layer_normalization_forward_desc_init"};
  Function<int(OperationDesc*, int prop, int algorithm, MemoryDesc data, float alpha, float beta)> eltwise{
      this, "dnnl_eltwise_forward_desc_init"};
  Function<int(void*, std::int64_t count, int mask, const float*)> set_output_scales{
      this, "dnnl_primitive_attr_set_output_scales"};
  Function<int(void**, const OperationDesc*, const void* attributes, void* engine, const void* hint)>
      pd_create{this, "dnnl_primitive_desc_create"};
};

class Primitives2 : public Primitives {
 public:
  explicit Primitives2(void* library) : Primitives(library) {
    if (const std::string_view missing = api2_.find(library); !missing.empty())
      throw_environment("oneDNN has no {}, which version 2 has", missing);
  }

  MemoryDesc strided(DType type, const Dims& dims, const Dims& strides) override {
    MemoryDesc2& desc = descs_.emplace_back();
    return api2_.md_by_strides(&desc, static_cast<int>(dims.size()), dims.data(), code_of(type),
                               strides.data()) == 0
               ? &desc
               : nullptr;
  }
  MemoryDesc any(DType type, const Dims& dims) override {
    MemoryDesc2& desc = descs_.emplace_back();
    return api2_.md_by_tag(&desc, static_cast<int>(dims.size()), dims.data(), code_of(type), kTagAny) == 0
               ? &desc
               : nullptr;
  }
  std::optional<const void*> attributes(const Extras& extras) override {
    if (extras.src_zero.data != nullptr || extras.scales.data != nullptr || extras.bias.data != nullptr)
      return std::nullopt;
    if (extras.post_ops.empty()) return nullptr;
    const PostOp& step = extras.post_ops[0];
    if (extras.post_ops.size() > 1 || step.algorithm != kLinear || step.beta != 0) return std::nullopt;
    void* const made = new_attributes();
    if (made == nullptr || api2_.set_output_scales(made, 1, 0, &step.alpha) != 0) return std::nullopt;
    return made;
  }

  Primitive matmul(const Operands& of, const void* attributes) override {
    OperationDesc operation;
    return primitive(api2_.matmul(&operation, of.src, of.weights, of.bias, of.dst), operation, attributes);
  }
  Primitive inner_product(const Operands& of, const void* attributes) override {
    OperationDesc operation;
    return primitive(api2_.inner_product(&operation, kForwardInference, of.src, of.weights, of.bias, of.dst),
                     operation, attributes);
  }
  Primitive convolution(const Operands& of, int algorithm, const Windows& windows,
                        const void* attributes) override {
    OperationDesc operation;
    return primitive(api2_.convolution(&operation, kForwardInference, algorithm, of.src, of.weights, of.bias,
                                       of.dst, windows.strides.data(), windows.dilates.data(),
                                       windows.before.data(), windows.after.data()),
                     operation, attributes);
  }
  Primitive softmax(MemoryDesc src, MemoryDesc dst, int algorithm) override {
    OperationDesc operation;
    return primitive(api2_.softmax(&operation, kForwardInference, algorithm, src, dst, 1), operation,
                     nullptr);
  }
  // Source and destination must have the same type.
  Primitive layer_normalization(MemoryDesc src, MemoryDesc dst, float epsilon, bool scale,
                                bool shift) override {
    if (!are_equal(src, dst)) return {};
    const unsigned flags = (scale ? 8U : 0U) | (shift ? 16U : 0U);
    OperationDesc operation;
    return primitive(api2_.layer_normalization(&operation, kForwardInference, src, nullptr, epsilon, flags),
                     operation, nullptr);
  }
  Primitive eltwise(MemoryDesc src, MemoryDesc dst, const Eltwise& of) override {
    if (!are_equal(src, dst)) return {};
    OperationDesc operation;
    return primitive(api2_.eltwise(&operation, kForwardInference, of.algorithm2, src, of.alpha, of.beta),
                     operation, nullptr);
  }

 private:
  Primitive primitive(int status, const OperationDesc& operation, const void* attributes) {
    if (status != 0) return {};
    void* pd = nullptr;
    const int created = api2_.pd_create(&pd, &operation, attributes, engine(), nullptr);
    return described(created, pd);
  }

  Api2 api2_;
  std::deque<MemoryDesc2> descs_;
};

}  // namespace

std::unique_ptr<Primitives> make_primitives2(void* library) {
  return std::make_unique<Primitives2>(library);
}

}  // namespace lehr::onednn
