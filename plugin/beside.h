// Loads libraries of `lehr export` (runtime/kernels.h) from the plug-in's folder, and keeps contexts of these
// libraries that calls share.
#pragma once

#include <limits.h>
#include <sys/types.h>

#include "plugin/engine.h"
#include "runtime/kernels.h"

namespace lehr::onnxruntime {

constexpr std::size_t kMostPath = 2 * PATH_MAX;

/// Functions of a library that nodes call.
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

/// A context that no call uses at the moment.
struct FreeContext {
  std::uint32_t threads = 0;
  kernels_context* context = nullptr;
};
/// A context for the GPU. It has no stream until a call has used it.
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
  /// Number of nodes on the GPU; contexts for the GPU exist as long as it is above 0.
  std::uint64_t gpu_nodes = 0;
  Library* next = nullptr;
};

/// Stores the path from which this plug-in was loaded. The first call must come early, while a relative path
/// is still valid. Later calls do nothing.
void note_own_path();
/// Returns the library lib<NAME>.so in the folder of the plug-in's path. If the path is a link and that
/// folder has no such library, it looks in the folder of the link's target. The first call for a name loads
/// the library, which is never unloaded. On failure, returns nullptr and writes a sentence to `error`.
Library* library_beside(const char* name, Sentence& error);
/// Whether another file has replaced the library's file since it was loaded.
bool was_replaced(const Library& library);

/// A context for the processor. No other call uses it while this object lives.
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

/// The context for a stream of the GPU. While this object lives, no other thread can use any context for the
/// GPU. Calls only launch kernels, which takes little time.
class LockedGpuContext {
 public:
  /// `stream` is nullptr while a node is created, for which any context is right.
  LockedGpuContext(Library& library, void* const* stream, Sentence& error);
  ~LockedGpuContext();
  LockedGpuContext(const LockedGpuContext&) = delete;
  LockedGpuContext& operator=(const LockedGpuContext&) = delete;
  kernels_context* get() const { return context_; }  ///< nullptr with a sentence if it could not be made

 private:
  kernels_context* context_ = nullptr;
};
/// Count the nodes that run on the GPU. end_gpu_node() for the last node destroys the library's contexts for
/// the GPU.
void begin_gpu_node(Library& library);
void end_gpu_node(Library& library);

}  // namespace lehr::onnxruntime
