#include "plugin/workspaces.h"

#include "runtime/bundle.h"
#include "runtime/message.h"

namespace lehr::onnxruntime {
namespace {

constexpr std::uint64_t kAlignment = 256;  // of lehr_bundle.h

std::uint64_t rounded(std::uint64_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

}  // namespace

Workspaces::~Workspaces() {
  for (Set* one = first_; one != nullptr;) {
    ignore(api_, ort::AllocatorFree(api_, allocator_, one->memory));
    runtime::Owner<Set> ended;
    ended.reset(one);
    one = one->next;
  }
  if (allocator_ != nullptr) ort::ReleaseAllocator(api_, allocator_);
}

bool Workspaces::put(const OrtApi* api, const OrtKernelContext* context, const OrtValue* output,
                     const Variant& variant, void* stream, void** params, lehr_error& error) {
  std::uint64_t bytes = 0;
  for (const VariantParam& param : variant.params)
    if (param.role == LEHR_WORKSPACE) bytes += rounded(param.bytes);
  if (bytes == 0) return true;
  pthread_mutex_lock(&adding_);
  Set* set = first_;
  while (set != nullptr && (set->variant != &variant || set->stream != stream)) set = set->next;
  if (set == nullptr) set = add(api, context, output, variant, bytes, stream, error);
  pthread_mutex_unlock(&adding_);
  if (set == nullptr) return false;
  auto at = reinterpret_cast<std::uintptr_t>(set->memory);
  at = rounded(at);
  for (std::size_t i = 0; i < variant.params.size(); ++i) {
    if (variant.params[i].role != LEHR_WORKSPACE) continue;
    params[i] = reinterpret_cast<void*>(at);
    at += rounded(variant.params[i].bytes);
  }
  return true;
}

Workspaces::Set* Workspaces::add(const OrtApi* api, const OrtKernelContext* context, const OrtValue* output,
                                 const Variant& variant, std::uint64_t bytes, void* stream,
                                 lehr_error& error) {
  api_ = api;
  if (allocator_ == nullptr) allocator_ = TensorAllocator(api, context, output, error).release();
  runtime::Owner<Set> made = runtime::Owner<Set>::make();
  bytes += kAlignment;
  if (allocator_ == nullptr || !made ||
      !succeeded(api, ort::AllocatorAlloc(api, allocator_, bytes, &made->memory), error))
    return nullptr;
  const runtime::Cuda& cuda = *runtime::bundle_of_kernel(variant.kernel)->cuda;
  const runtime::CurrentCuda current(cuda);
  const CudaCode code =
      current.code != 0
          ? current.code
          : cuda.driver.fill_async(reinterpret_cast<std::uintptr_t>(made->memory), 0, bytes, stream);
  if (code != 0) {
    runtime::fail(&error, LEHR_DRIVER_ERROR, "its workspace cannot be zeroed: %s", cuda.name_of(code));
    ignore(api, ort::AllocatorFree(api, allocator_, made->memory));
    return nullptr;
  }
  made->variant = &variant;
  made->stream = stream;
  made->next = first_;
  return first_ = made.release();
}

}  // namespace lehr::onnxruntime
