// Libraries of `lehr export` (runtime/kernels.h) in this library's folder, and contexts of them that calls
// share.
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "plugin/engine.h"
#include "runtime/kernels.h"

namespace lehr::onnxruntime {

constexpr std::size_t kMostPath = 2 * PATH_MAX;

/// A library's functions that nodes call.
struct LibraryFunctions {
  decltype(&kernels_format) format;
  decltype(&kernels_interface) interface;
  decltype(&kernels_create_for) create_for;
  decltype(&kernels_destroy) destroy;
  decltype(&kernels_message) message;
  decltype(&kernels_use) use;
  decltype(&kernels_stream) set_stream;
  decltype(&kernels_find) find;
  decltype(&kernels_call) call;
  decltype(&kernels_pack_bytes) pack_bytes;
  decltype(&kernels_pack) pack;
};

/// A context that no call uses.
struct FreeContext {
  std::uint32_t threads = 0;
  kernels_context* context = nullptr;
};
/// A context of the GPU. Until a call has used it, it has no stream.
struct StreamContext {
  bool has_stream = false;
  void* stream = nullptr;
  kernels_context* context = nullptr;
};

struct Library {
  Array<char> name;
  char path[kMostPath] = "";
  dev_t device = 0;  ///< with `inode`, identifies the file that was loaded
  ino_t inode = 0;
  LibraryFunctions functions = {};
  Array<FreeContext> free;
  Array<StreamContext> of_streams;
  std::uint64_t gpu_nodes = 0;  ///< contexts of the GPU live as long as this is above 0
  Library* next = nullptr;
};

/// Notes the path that this plug-in was loaded by, while a relative one is still valid. Later calls do
/// nothing.
void note_own_path();
/// Returns the library lib<NAME>.so in the folder of that path, or, if it has none, in the folder of the file
/// that the path leads to. The first call that names it loads it, forever. Returns nullptr with a sentence on
/// failure.
Library* library_beside(const char* name, Sentence& error);
/// Whether another file has its path now.
bool was_replaced(const Library& library);

/// A context for the processor that only this call uses.
class BorrowedContext {
 public:
  BorrowedContext(Library& library, std::uint32_t threads, Sentence& error);
  ~BorrowedContext();
  BorrowedContext(const BorrowedContext&) = delete;
  BorrowedContext& operator=(const BorrowedContext&) = delete;
  kernels_context* get() const { return context_; }  ///< nullptr with a sentence if it could not be made

 private:
  Library& library_;
  const std::uint32_t threads_;
  kernels_context* context_ = nullptr;
};

/// The context of a stream of the GPU. While this lives, no other thread uses any: a launch is short.
class LockedGpuContext {
 public:
  /// `stream` is nullptr while a node is created: any context is right then.
  LockedGpuContext(Library& library, void* const* stream, Sentence& error);
  ~LockedGpuContext();
  LockedGpuContext(const LockedGpuContext&) = delete;
  LockedGpuContext& operator=(const LockedGpuContext&) = delete;
  kernels_context* get() const { return context_; }  ///< nullptr with a sentence if it could not be made

 private:
  kernels_context* context_ = nullptr;
};
/// Count the nodes that run on the GPU; the last one ends its contexts.
void begin_gpu_node(Library& library);
void end_gpu_node(Library& library);

}  // namespace lehr::onnxruntime
