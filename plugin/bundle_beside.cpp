#include "plugin/bundle_beside.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdlib.h>

#include <cstdlib>
#include <cstring>

#include "runtime/message.h"

namespace lehr::onnxruntime {
namespace {

constexpr const char* kFolder = "kernels";

BundleBeside opened;
pthread_once_t opening = PTHREAD_ONCE_INIT;

void open_beside() {
  opened.why_not.size = sizeof opened.why_not;
  Dl_info library;
  char path[PATH_MAX + 16];
  if (dladdr(reinterpret_cast<const void*>(&opened), &library) == 0 || library.dli_fname == nullptr ||
      realpath(library.dli_fname, path) == nullptr) {
    runtime::fail(&opened.why_not, LEHR_BAD_BUNDLE, "the plug-in's own folder is not known");
    return;
  }
  std::strcpy(std::strrchr(path, '/') + 1, kFolder);
  if (lehr_open(path, nullptr, &opened.bundle, &opened.why_not) != LEHR_OK) opened.bundle = 0;
}

struct Buffer {
  void* memory;
  std::size_t bytes;
};

// More calls than this at the same time give their memory back to the system.
constexpr std::size_t kMostKept = 64;
Buffer kept[kMostKept];
std::size_t kept_count = 0;
pthread_mutex_t keeping = PTHREAD_MUTEX_INITIALIZER;

}  // namespace

const BundleBeside& bundle_beside() {
  pthread_once(&opening, &open_beside);
  return opened;
}

Scratch::Scratch(std::size_t bytes) {
  if (bytes == 0) return;
  pthread_mutex_lock(&keeping);
  if (kept_count > 0) {
    --kept_count;
    memory_ = kept[kept_count].memory;
    bytes_ = kept[kept_count].bytes;
  }
  pthread_mutex_unlock(&keeping);
  if (bytes_ >= bytes) return;
  std::free(memory_);
  bytes_ = bytes;
  if (posix_memalign(&memory_, 64, bytes) != 0) memory_ = nullptr;
}

Scratch::~Scratch() {
  if (memory_ == nullptr) return;
  pthread_mutex_lock(&keeping);
  const bool is_kept = kept_count < kMostKept;
  if (is_kept) kept[kept_count++] = {memory_, bytes_};
  pthread_mutex_unlock(&keeping);
  if (!is_kept) std::free(memory_);
}

}  // namespace lehr::onnxruntime
