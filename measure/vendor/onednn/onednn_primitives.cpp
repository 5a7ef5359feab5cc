#include "measure/vendor/onednn/onednn_primitives.h"

#include <string_view>

#include "base/error.h"

namespace lehr::onednn {
namespace {

constexpr int kCpu = 1, kInOrder = 1, kSuccess = 0;
void* const kAllocate = reinterpret_cast<void*>(~std::uintptr_t{0});  // DNNL_MEMORY_ALLOCATE

}  // namespace

Primitives::Primitives(void* library) {
  if (const std::string_view missing = api_.find(library); !missing.empty())
    throw_environment("oneDNN has no {}: its primitives are called through the API of version 2", missing);
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

Primitives::Primitive Primitives::primitive(const OperationDesc& operation, const void* attributes) {
  Primitive made;
  const int status = api_.pd_create(&made.pd, &operation, attributes, engine_, nullptr);
  made.primitive = made_of(status, made.pd);
  return made;
}

void* Primitives::scaled(float scale) {
  void* attributes = nullptr;
  const int status = api_.attributes_create(&attributes);
  if (!owns(status, attributes, api_.attributes_destroy)) return nullptr;
  return api_.attributes_set_scales(attributes, 1, 0, &scale) == kSuccess ? attributes : nullptr;
}

void* Primitives::adapted(const MemoryDesc& have, void* handle, const Primitive& primitive, int which,
                          bool back, std::vector<Step>& steps) {
  const void* const wanted = api_.pd_query_md(primitive.pd, which, 0);
  void* const here = memory(&have, handle);
  if (here == nullptr || wanted == nullptr || api_.md_equal(&have, wanted) != 0) return here;
  void* const there = memory(wanted, kAllocate);
  if (there == nullptr) return nullptr;
  void* pd = nullptr;
  const void* from = back ? wanted : &have;
  const void* to = back ? static_cast<const void*>(&have) : wanted;
  const int status = api_.reorder_pd(&pd, from, engine_, to, engine_, nullptr);
  void* const copy = made_of(status, pd);
  if (copy == nullptr) return nullptr;
  steps.push_back({copy, {{kArgSrc, back ? there : here}, {kArgDst, back ? here : there}}});
  return there;
}

bool Primitives::owns(int status, void* object, int (*destroy)(void*)) {
  if (status == kSuccess) made_.emplace_back(destroy, object);
  return status == kSuccess;
}

void* Primitives::memory(const void* md, void* handle) {
  void* memory = nullptr;
  const int status = api_.memory_create(&memory, md, engine_, handle);
  return owns(status, memory, api_.memory_destroy) ? memory : nullptr;
}

void* Primitives::made_of(int pd_status, void* pd) {
  if (!owns(pd_status, pd, api_.pd_destroy)) return nullptr;
  void* primitive = nullptr;
  const int status = api_.primitive_create(&primitive, pd);
  return owns(status, primitive, api_.primitive_destroy) ? primitive : nullptr;
}

}  // namespace lehr::onednn
