// Descriptors are opaque here: the library fills them in, and they are only handed back to it.
#include "measure/vendor/onednn/onednn_conv2d.h"

#include <array>
#include <cstdint>
#include <utility>

#include "base/error.h"
#include "measure/system/shared_library.h"

namespace lehr::onednn {
namespace {

// oneDNN 2.x, dnnl_types.h: names as there.
constexpr int kCpu = 1, kF32 = 3, kInOrder = 1, kTagAny = 1;
constexpr int kForwardInference = 96, kDirect = 1, kWinograd = 2;
constexpr int kSrcMd = 129, kWeightsMd = 131, kDstMd = 133;
constexpr int kArgSrc = 1, kArgDst = 17, kArgWeights = 33;
using Dims = std::array<std::int64_t, 12>;
/// Larger than dnnl_memory_desc_t (about 700 bytes) and dnnl_convolution_desc_t (about 6 KB).
struct alignas(16) MemoryDesc {
  std::array<char, 4096> bytes{};
};
struct alignas(16) ConvolutionDesc {
  std::array<char, 32768> bytes{};
};
struct ExecArg {
  int arg;
  void* memory;
};

struct Api {
  int (*engine_create)(void**, int kind, std::size_t index);
  int (*stream_create)(void**, void* engine, unsigned flags);
  int (*stream_wait)(void*);
  int (*md_by_strides)(MemoryDesc*, int ndims, const Dims&, int type, const Dims& strides);
  int (*md_by_tag)(MemoryDesc*, int ndims, const Dims&, int type, int tag);
  int (*md_equal)(const void*, const void*);
  int (*convolution)(ConvolutionDesc*, int prop, int algorithm, const MemoryDesc* src,
                     const MemoryDesc* weights, const MemoryDesc* bias, const MemoryDesc* dst,
                     const Dims& strides, const Dims& dilates, const Dims& padding_l, const Dims& padding_r);
  int (*pd_create)(void**, const ConvolutionDesc*, const void* attributes, void* engine, const void* hint);
  const void* (*pd_query_md)(const void*, int what, int index);
  int (*primitive_create)(void**, const void* pd);
  int (*primitive_execute)(const void*, void* stream, int count, const ExecArg*);
  int (*memory_create)(void**, const void* md, void* engine, void* handle);
  int (*reorder_pd)(void**, const void* src_md, void* src_engine, const void* dst_md, void* dst_engine,
                    const void* attributes);
  int (*engine_destroy)(void*);
  int (*stream_destroy)(void*);
  int (*pd_destroy)(void*);
  int (*primitive_destroy)(void*);
  int (*memory_destroy)(void*);
};

Api open_api(void* library) {
  Api api{};
  FunctionFinder find(library);
  find("dnnl_engine_create", api.engine_create);
  find("dnnl_stream_create", api.stream_create);
  find("dnnl_stream_wait", api.stream_wait);
  find("dnnl_memory_desc_init_by_strides", api.md_by_strides);
  find("dnnl_memory_desc_init_by_tag", api.md_by_tag);
  find("dnnl_memory_desc_equal", api.md_equal);
  find("dnnl_dilated_convolution_forward_desc_init", api.convolution);
  find("dnnl_primitive_desc_create", api.pd_create);
  find("dnnl_primitive_desc_query_md", api.pd_query_md);
  find("dnnl_primitive_create", api.primitive_create);
  find("dnnl_primitive_execute", api.primitive_execute);
  find("dnnl_memory_create", api.memory_create);
  find("dnnl_reorder_primitive_desc_create", api.reorder_pd);
  find("dnnl_engine_destroy", api.engine_destroy);
  find("dnnl_stream_destroy", api.stream_destroy);
  find("dnnl_primitive_desc_destroy", api.pd_destroy);
  find("dnnl_primitive_destroy", api.primitive_destroy);
  find("dnnl_memory_destroy", api.memory_destroy);
  if (!find.missing().empty())
    throw_environment("oneDNN has no {}: its convolutions are called through the API of version 2",
                      find.missing());
  return api;
}

/// Dense strides of dims in memory order `order`, slowest first.
Dims strides_of(const Dims& dims, const std::vector<std::size_t>& order) {
  Dims strides{};
  std::int64_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    strides[order[i]] = stride;
    stride *= dims[order[i]];
  }
  return strides;
}

struct Step {
  void* primitive;
  std::vector<ExecArg> args;
};

}  // namespace

struct OneDnnConv2d::State {
  Api api;
  void* engine = nullptr;
  void* stream = nullptr;
  std::vector<std::vector<Step>> ways;
  std::vector<std::pair<int (*)(void*), void*>> made;  // what to destroy by what, newest last

  State() = default;
  State(const State&) = delete;
  State& operator=(const State&) = delete;
  ~State() {
    while (!made.empty()) {
      made.back().first(made.back().second);
      made.pop_back();
    }
  }

  bool ok(int status) const { return status == 0; }
  /// Whether the library made `object`, which is then destroyed with this.
  bool owns(int status, void* object, int (*destroy)(void*)) {
    if (ok(status)) made.emplace_back(destroy, object);
    return ok(status);
  }
  void run(const std::vector<Step>& steps) const {
    for (const Step& step : steps)
      if (!ok(api.primitive_execute(step.primitive, stream, static_cast<int>(step.args.size()),
                                    step.args.data())))
        return;
    api.stream_wait(stream);
  }
  /// nullptr when the library refuses.
  void* memory(const void* md, void* handle) {
    void* memory = nullptr;
    const int status = api.memory_create(&memory, md, engine, handle);
    return owns(status, memory, api.memory_destroy) ? memory : nullptr;
  }
  /// nullptr when the library refuses; `pd` is taken over.
  void* primitive(int pd_status, void* pd) {
    if (!owns(pd_status, pd, api.pd_destroy)) return nullptr;
    void* primitive = nullptr;
    const int status = api.primitive_create(&primitive, pd);
    return owns(status, primitive, api.primitive_destroy) ? primitive : nullptr;
  }
  /// `from` as `wanted` has it: the same memory, or new memory and a step in `steps` that copies; `back`:
  /// the other way round.
  void* adapted(const MemoryDesc& have, void* handle, const void* wanted, bool back,
                std::vector<Step>& steps) {
    void* const here = memory(&have, handle);
    if (here == nullptr || wanted == nullptr || api.md_equal(&have, wanted) != 0) return here;
    void* const there = memory(wanted, reinterpret_cast<void*>(~std::uintptr_t{0}));  // DNNL_MEMORY_ALLOCATE
    if (there == nullptr) return nullptr;
    void* pd = nullptr;
    const void* from = back ? wanted : &have;
    const void* to = back ? static_cast<const void*>(&have) : wanted;
    const int status = api.reorder_pd(&pd, from, engine, to, engine, nullptr);
    void* const copy = primitive(status, pd);
    if (copy == nullptr) return nullptr;
    steps.push_back({copy, {{kArgSrc, back ? there : here}, {kArgDst, back ? here : there}}});
    return there;
  }

  void start(void* library) {
    api = open_api(library);
    int status = api.engine_create(&engine, kCpu, 0);
    if (owns(status, engine, api.engine_destroy)) {
      status = api.stream_create(&stream, engine, kInOrder);
      owns(status, stream, api.stream_destroy);
    }
    if (!ok(status)) throw_environment("oneDNN has no CPU engine");
  }
};

OneDnnConv2d::OneDnnConv2d(void* library, const Conv2d& conv, float* x, float* f, float* y)
    : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.start(library);
  const bool grouped = conv.groups > 1;
  const Dims x_dims = {conv.n, conv.c, conv.h, conv.w}, y_dims = {conv.n, conv.k, conv.out_h(), conv.out_w()};
  const Dims f_dims = grouped ? Dims{conv.groups, conv.k / conv.groups, conv.c / conv.groups, conv.r, conv.s}
                              : Dims{conv.k, conv.c, conv.r, conv.s};
  const int f_rank = grouped ? 5 : 4;
  const std::vector<std::size_t> image =
      conv.layout == ImageLayout::kNhwc ? std::vector<std::size_t>{0, 2, 3, 1} : std::vector<std::size_t>{0, 1, 2, 3};
  std::vector<std::size_t> filter = image;
  if (grouped) {
    for (std::size_t& axis : filter) ++axis;
    filter.insert(filter.begin(), 0);
  }
  MemoryDesc x_md, f_md, y_md, any_x, any_f, any_y;
  const auto plain = [&](MemoryDesc& md, int rank, const Dims& dims, const std::vector<std::size_t>& order) {
    return s.ok(s.api.md_by_strides(&md, rank, dims, kF32, strides_of(dims, order)));
  };
  const auto any = [&](MemoryDesc& md, int rank, const Dims& dims) {
    return s.ok(s.api.md_by_tag(&md, rank, dims, kF32, kTagAny));
  };
  if (!plain(x_md, 4, x_dims, image) || !plain(f_md, f_rank, f_dims, filter) ||
      !plain(y_md, 4, y_dims, image) || !any(any_x, 4, x_dims) || !any(any_f, f_rank, f_dims) ||
      !any(any_y, 4, y_dims))
    throw_user("oneDNN refuses the tensors of this convolution");
  const Dims strides = {conv.stride_h, conv.stride_w};
  const Dims dilates = {conv.dilation_h - 1,
                        conv.dilation_w - 1};  // oneDNN counts the pixels that are left out
  const Dims before = {conv.pad_top, conv.pad_left}, after = {conv.pad_bottom, conv.pad_right};
  for (const auto& [algorithm, algorithm_name] : {std::pair{kDirect, "direct"}, {kWinograd, "winograd"}}) {
    for (const bool blocked : {false, true}) {
      ConvolutionDesc desc;
      if (!s.ok(s.api.convolution(&desc, kForwardInference, algorithm, blocked ? &any_x : &x_md, &any_f,
                                  nullptr, blocked ? &any_y : &y_md, strides, dilates, before, after)))
        continue;
      void* pd = nullptr;
      const int status = s.api.pd_create(&pd, &desc, nullptr, s.engine, nullptr);
      void* const primitive = s.primitive(status, pd);
      if (primitive == nullptr) continue;
      std::vector<Step> once, steps, last;
      void* const filter_memory = s.adapted(f_md, f, s.api.pd_query_md(pd, kWeightsMd, 0), false, once);
      void* const input = s.adapted(x_md, x, s.api.pd_query_md(pd, kSrcMd, 0), false, steps);
      void* const output = s.adapted(y_md, y, s.api.pd_query_md(pd, kDstMd, 0), true, last);
      if (filter_memory == nullptr || input == nullptr || output == nullptr) continue;
      s.run(once);
      steps.push_back({primitive, {{kArgSrc, input}, {kArgWeights, filter_memory}, {kArgDst, output}}});
      steps.insert(steps.end(), last.begin(), last.end());
      s.ways.push_back(std::move(steps));
      names_.push_back(fmt::format("{} {}", blocked ? "blocked" : "plain", algorithm_name));
    }
  }
  if (s.ways.empty()) throw_user("oneDNN has no convolution for this problem");
}

OneDnnConv2d::~OneDnnConv2d() = default;

void OneDnnConv2d::call(std::size_t way) const {
  state_->run(state_->ways[way]);
}

}  // namespace lehr::onednn
