// Memory on the GPU that kernels keep from launch to launch: one set for each kernel and stream.
#pragma once

#include <pthread.h>

#include "plugin/engine.h"
#include "plugin/variants.h"

namespace lehr::onnxruntime {

class Workspaces {
 public:
  Workspaces() = default;
  ~Workspaces();
  Workspaces(const Workspaces&) = delete;
  Workspaces& operator=(const Workspaces&) = delete;

  /// Puts the addresses of the kernel's workspaces where `params` has them. A set is allocated beside
  /// `output` and zeroed on the stream when the kernel first meets it. False with a sentence.
  bool put(const OrtApi* api, const OrtKernelContext* context, const OrtValue* output, const Variant& variant,
           void* stream, void** params, lehr_error& error);

 private:
  struct Set {
    const Variant* variant = nullptr;
    void* stream = nullptr;
    void* memory = nullptr;
    Set* next = nullptr;
  };
  Set* add(const OrtApi* api, const OrtKernelContext* context, const OrtValue* output, const Variant& variant,
           std::uint64_t bytes, void* stream, lehr_error& error);

  const OrtApi* api_ = nullptr;
  OrtAllocator* allocator_ = nullptr;
  Set* first_ = nullptr;
  pthread_mutex_t adding_ = PTHREAD_MUTEX_INITIALIZER;
};

}  // namespace lehr::onnxruntime
