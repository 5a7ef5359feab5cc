// Libraries of `lehr export` (runtime/kernels.h) in this one's folder, and contexts of them that calls share.
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
/// A context of the GPU. One that no call has used yet has no stream.
struct StreamContext {
  bool has_stream = false;
  void* stream = nullptr;
  kernels_context* context = nullptr;
};

struct Library {
  Array<char> name;
  char path[kMostPath] = "";
  dev_t device = 0;  ///< with `inode` the file that was loaded
  ino_t inode = 0;
  LibraryFunctions functions = {};
  Array<FreeContext> free;
  Array<StreamContext> of_streams;
  std::uint64_t gpu_nodes = 0;  ///< contexts of the GPU live as long as there are some
  Library* next = nullptr;
};

/// Notes the path that this plug-in was loaded by, as long as a relative one leads there. Later calls do
/// nothing.
void note_own_path();
/// The library lib<NAME>.so of the folder of that path, or where it has none of the file that the path leads
/// to. It is loaded by the first call that names it, for ever. nullptr with a sentence.
Library* library_beside(const char* name, Sentence& error);
/// Whether another file has its path now.
bool was_replaced(const Library& library);

/// A context for the processor, which is this call's alone.
class BorrowedContext {
 public:
  BorrowedContext(Library& library, std::uint32_t threads, Sentence& error);
  ~BorrowedContext();
  BorrowedContext(const BorrowedContext&) = delete;
  BorrowedContext& operator=(const BorrowedContext&) = delete;
  kernels_context* get() const { return context_; }  ///< nullptr: there is none, with a sentence

 private:
  Library& library_;
  const std::uint32_t threads_;
  kernels_context* context_ = nullptr;
};

/// The context of a stream of the GPU. No other thread uses any as long as it lives: a launch takes a moment.
class LockedGpuContext {
 public:
  /// `stream` of a node that is made is nullptr: any context will do.
  LockedGpuContext(Library& library, void* const* stream, Sentence& error);
  ~LockedGpuContext();
  LockedGpuContext(const LockedGpuContext&) = delete;
  LockedGpuContext& operator=(const LockedGpuContext&) = delete;
  kernels_context* get() const { return context_; }  ///< nullptr: there is none, with a sentence

 private:
  kernels_context* context_ = nullptr;
};
/// Counts the nodes that run on the GPU; the last one ends its contexts.
void begin_gpu_node(Library& library);
void end_gpu_node(Library& library);

}  // namespace lehr::onnxruntime
