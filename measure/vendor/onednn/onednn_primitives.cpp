#include "measure/vendor/onednn/onednn_primitives.h"

#include <fmt/core.h>

#include <algorithm>
#include <string_view>

#include "base/error.h"

namespace lehr::onednn {
namespace {

constexpr int kCpu = 1, kInOrder = 1, kSuccess = 0, kImplInfo = 8;
void* const kAllocate = reinterpret_cast<void*>(~std::uintptr_t{0});  // DNNL_MEMORY_ALLOCATE

// Arguments of version 3 that a primitive takes if its attributes request them.
constexpr int kArgNormScale = 51, kArgNormShift = 52;
constexpr int kArgBias = 41, kArgScales = 4096, kArgZeroPoints = 8192, kArgPostOp = 32768, kArgSrc1 = 2;

/// Returns the arguments whose tensors are set in `extras`.
std::vector<std::pair<int, Tensor>> arguments_of(const Extras& extras) {
  std::vector<std::pair<int, Tensor>> arguments = {{kArgBias, extras.bias},
                                                   {kArgScales | kArgWeights, extras.scales},
                                                   {kArgScales | kArgDst, extras.dst_scale},
                                                   {kArgZeroPoints | kArgSrc, extras.src_zero},
                                                   {kArgZeroPoints | kArgDst, extras.dst_zero},
                                                   {kArgNormScale, extras.norm_scale},
                                                   {kArgNormShift, extras.norm_shift}};
  int number = 0;
  for (const PostOp& step : extras.post_ops)
    arguments.emplace_back((kArgPostOp * ++number) | kArgSrc1, step.operand);
  std::erase_if(arguments, [](const auto& argument) { return argument.second.data == nullptr; });
  return arguments;
}

}  // namespace

int code_of(DType type) {
  switch (type) {
    case DType::kBF16:
      return 2;
    case DType::kF32:
      return 3;
    case DType::kS32:
      return 4;
    case DType::kS8:
    case DType::kS7:
      return 5;
    case DType::kU8:
      return 6;
    default:
      return 0;
  }
}

Primitives::Primitives(void* library) {
  if (const std::string_view missing = api_.find(library); !missing.empty())
    throw_environment("oneDNN has no {}", missing);
  int status = api_.engine_create(&engine_, kCpu, 0);
  if (owns(status, engine_, api_.engine_destroy)) {
    status = api_.stream_create(&stream_, engine_, kInOrder);
    owns(status, stream_, api_.stream_destroy);
  }
  if (status != kSuccess) throw_environment("oneDNN has no CPU engine");
}

Primitives::~Primitives() {
  while (!made_.empty()) {
    made_.back().first(made_.back().second);
    made_.pop_back();
  }
}

void Primitives::run(const std::vector<Step>& steps) const {
  for (const Step& step : steps)
    if (api_.primitive_execute(step.primitive, stream_, static_cast<int>(step.args.size()),
                               step.args.data()) != kSuccess)
      return;
  api_.stream_wait(stream_);
}

std::vector<Step> Primitives::steps_of(const Primitive& primitive, const Tensor& src, const Tensor& weights,
                                       const Tensor& dst, const Extras& extras) {
  void* const made = made_of(primitive.pd);
  if (made == nullptr) return {};
  std::vector<Step> once, steps, last;
  void* const input = adapted(src, primitive, kSrcMd, false, steps);
  void* const output = adapted(dst, primitive, kDstMd, true, last);
  std::vector<ExecArg> args = {{kArgSrc, input}, {kArgDst, output}};
  if (weights.data != nullptr)
    args.push_back({kArgWeights, adapted(weights, primitive, kWeightsMd, false, once)});
  for (const auto& [arg, tensor] : arguments_of(extras))
    args.push_back({arg, memory(tensor.desc, tensor.data)});
  if (std::ranges::count(args, nullptr, &ExecArg::memory) > 0) return {};
  run(once);
  steps.push_back({made, std::move(args)});
  steps.insert(steps.end(), last.begin(), last.end());
  return steps;
}

bool Primitives::owns(int status, void* object, int (*destroy)(void*)) {
  if (status == kSuccess) made_.emplace_back(destroy, object);
  return status == kSuccess;
}

float* Primitives::kept(std::vector<float> values) {
  return values_.emplace_back(std::move(values)).data();
}

Tensor Primitives::number(std::int32_t value) {
  return {strided(DType::kS32, {1}, {1}), &numbers_.emplace_back(value)};
}

void* Primitives::new_attributes() {
  void* made = nullptr;
  const int status = api_.attributes_create(&made);
  return owns(status, made, api_.attributes_destroy) ? made : nullptr;
}

Primitive Primitives::described(int status, void* pd) {
  if (!owns(status, pd, api_.pd_destroy)) return {};
  const char* kernel = "";
  if (api_.pd_query(pd, kImplInfo, 0, &kernel) != kSuccess) kernel = "";
  return {pd, kernel};
}

void* Primitives::adapted(const Tensor& have, const Primitive& primitive, int which, bool back,
                          std::vector<Step>& steps) {
  const MemoryDesc wanted = api_.pd_query_md(primitive.pd, which, 0);
  void* const here = memory(have.desc, have.data);
  if (here == nullptr || wanted == nullptr || api_.md_equal(have.desc, wanted) != 0) return here;
  void* const there = memory(wanted, kAllocate);
  if (there == nullptr) return nullptr;
  void* pd = nullptr;
  const MemoryDesc from = back ? wanted : have.desc, to = back ? have.desc : wanted;
  const int status = api_.reorder_pd(&pd, from, engine_, to, engine_, nullptr);
  void* const copy = owns(status, pd, api_.pd_destroy) ? made_of(pd) : nullptr;
  if (copy == nullptr) return nullptr;
  steps.push_back({copy, {{kArgSrc, back ? there : here}, {kArgDst, back ? here : there}}});
  return there;
}

void* Primitives::memory(MemoryDesc desc, void* handle) {
  void* memory = nullptr;
  const int status = api_.memory_create(&memory, desc, engine_, handle);
  return owns(status, memory, api_.memory_destroy) ? memory : nullptr;
}

void* Primitives::made_of(const void* pd) {
  void* primitive = nullptr;
  const int status = api_.primitive_create(&primitive, pd);
  return owns(status, primitive, api_.primitive_destroy) ? primitive : nullptr;
}

std::shared_ptr<Primitives> make_primitives(const OneDnnLibrary& library) {
  return library.major == 2 ? make_primitives2(library.handle) : make_primitives3(library.handle);
}

void add_algorithm(std::vector<Algorithm>& algorithms, const std::shared_ptr<Primitives>& primitives,
                   const std::string& name, const Primitive& primitive, const Tensor& src,
                   const Tensor& weights, const Tensor& dst, const Extras& extras) {
  if (primitive.pd == nullptr || primitive.kernel.starts_with("ref")) return;
  std::vector<Step> steps = primitives->steps_of(primitive, src, weights, dst, extras);
  if (steps.empty()) return;
  algorithms.push_back({fmt::format("{}, {}", name, primitive.kernel),
                        [primitives, all = std::move(steps)] { primitives->run(all); }});
}

}  // namespace lehr::onednn
