#include "plugin/beside.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace lehr::onnxruntime {
namespace {

constexpr std::size_t kMostCharacters = 40;  // maximum length of a library's name
// Maximum number of unused contexts that are kept. If more calls have run at the same time, the other
// contexts are destroyed.
constexpr std::size_t kMostFree = 64;

// Absolute path of the plug-in; the rest of kMostPath is room for a library's name.
char own_path[kMostPath - 64] = "";
Library* libraries = nullptr;
pthread_mutex_t loading = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t borrowing = PTHREAD_MUTEX_INITIALIZER;
pthread_mutex_t launching = PTHREAD_MUTEX_INITIALIZER;

class Locked {
 public:
  explicit Locked(pthread_mutex_t& lock) : lock_(lock) { pthread_mutex_lock(&lock_); }
  ~Locked() { pthread_mutex_unlock(&lock_); }
  Locked(const Locked&) = delete;
  Locked& operator=(const Locked&) = delete;

 private:
  pthread_mutex_t& lock_;
};

// Whether `name` is a letter followed by letters, digits and '_'. Then it is not a path, and it can be part
// of a function's name.
bool is_name(const char* name) {
  const std::size_t size = std::strlen(name);
  for (std::size_t i = 0; i < size; ++i) {
    const bool is_letter = (name[i] >= 'a' && name[i] <= 'z') || (i > 0 && name[i] == '_');
    if (!is_letter && (i == 0 || name[i] < '0' || name[i] > '9')) return false;
  }
  return size > 0 && size <= kMostCharacters;
}

bool find_path(const char* name, char (&path)[kMostPath], Sentence& error) {
  if (own_path[0] == 0) return refuse(error, "the plug-in's own folder is not known");
  const auto replace_file = [&] { std::snprintf(std::strrchr(path, '/') + 1, 64, "lib%s.so", name); };
  std::strcpy(path, own_path);
  replace_file();
  if (access(path, F_OK) != 0 && realpath(own_path, path) == nullptr) std::strcpy(path, own_path);
  replace_file();
  return true;
}

// Checks whether a library's file is complete. The loader would map more bytes than a truncated file has, and
// the process would be killed.
bool check_file(Library& library, Sentence& error) {
  const int file = open(library.path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;  // dlopen() reports why
  struct stat found = {};
  Elf64_Ehdr header = {};
  const bool is_read = fstat(file, &found) == 0 && pread(file, &header, sizeof header, 0) == sizeof header &&
                       std::memcmp(header.e_ident, "\177ELF\2", 5) == 0;
  close(file);
  library.device = found.st_dev;
  library.inode = found.st_ino;
  const std::uint64_t end = header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize;
  return !is_read || static_cast<std::uint64_t>(found.st_size) >= end ||
         refuse(error, "%.300s is cut: it has %llu bytes of at least %llu", library.path,
                static_cast<unsigned long long>(found.st_size), static_cast<unsigned long long>(end));
}

template <typename Function>
bool find_function(void* library, const char* name, const char* what, Function& function, Sentence& error) {
  char symbol[kMostCharacters + 32];
  std::snprintf(symbol, sizeof symbol, "%s%s", name, what);
  function = reinterpret_cast<Function>(dlsym(library, symbol));
  return function != nullptr ||
         refuse(error, "lib%s.so has no function %s: `lehr export` has not written it", name, symbol);
}

bool load(Library& library, Sentence& error) {
  const char* const name = library.name.data();
  LibraryFunctions& functions = library.functions;
  if (!find_path(name, library.path, error) || !check_file(library, error)) return false;
  void* const loaded = dlopen(library.path, RTLD_NOW | RTLD_LOCAL);
  if (loaded == nullptr) return refuse(error, "its kernels cannot be loaded: %.400s", dlerror());
  const auto find = [&](const char* what, auto& function) {
    return find_function(loaded, name, what, function, error);
  };
  if (!find("_format", functions.format)) return false;
  if (functions.format() != KERNELS_FORMAT)
    return refuse(error, "%.300s is a library of format %u, and this plug-in reads format %u: apply it again",
                  library.path, functions.format(), KERNELS_FORMAT);
  return find("_interface", functions.interface) && find("_create_for", functions.create_for) &&
         find("_destroy", functions.destroy) && find("_message", functions.message) &&
         find("_use", functions.use) && find("_stream", functions.set_stream) &&
         find("_find", functions.find) && find("_call", functions.call) &&
         find("_pack_bytes", functions.pack_bytes) && find("_pack", functions.pack);
}

// Makes a context with these options.
kernels_context* made(const Library& library, const kernels_options& options, Sentence& error) {
  char why_not[sizeof error.text] = "";
  kernels_context* const context =
      library.functions.create_for(library.functions.interface(), &options, why_not, sizeof why_not);
  if (context == nullptr) refuse(error, "%s", why_not);
  return context;
}

}  // namespace

void note_own_path() {
  const Locked locked(loading);
  Dl_info own;
  if (own_path[0] != 0 || dladdr(reinterpret_cast<const void*>(&libraries), &own) == 0) return;
  if (own.dli_fname[0] == '/')
    std::snprintf(own_path, sizeof own_path, "%s", own.dli_fname);
  else if (char here[PATH_MAX]; getcwd(here, sizeof here) != nullptr)
    std::snprintf(own_path, sizeof own_path, "%s/%s", here, own.dli_fname);
}

Library* library_beside(const char* name, Sentence& error) {
  if (!is_name(name)) {
    refuse(error, "'%.100s' is no name of a library", name);
    return nullptr;
  }
  const Locked locked(loading);
  for (Library* known = libraries; known != nullptr; known = known->next)
    if (std::strcmp(known->name.data(), name) == 0) return known;
  runtime::Owner<Library> own = runtime::Owner<Library>::make();
  if (!own || !own->name.resize(std::strlen(name) + 1)) {
    refuse(error, "there is no memory for a library");
    return nullptr;
  }
  std::strcpy(own->name.data(), name);
  if (!load(*own.get(), error)) return nullptr;
  own->next = libraries;
  return libraries = own.release();
}

bool was_replaced(const Library& library) {
  struct stat found;
  return stat(library.path, &found) == 0 && (found.st_dev != library.device || found.st_ino != library.inode);
}

BorrowedContext::BorrowedContext(Library& library, std::uint32_t threads, Sentence& error)
    : library_(library), threads_(threads) {
  {
    const Locked locked(borrowing);
    Array<FreeContext>& free = library.free;
    for (std::size_t i = free.size(); i-- > 0;) {
      if (free[i].threads != threads) continue;
      context_ = free[i].context;
      free[i] = free[free.size() - 1];
      free.shrink();
      return;
    }
  }
  kernels_options options = {};
  options.threads = threads;
  options.parallel_for = [](void*, std::uint32_t, void (*)(void*, std::uint32_t), void*) {};
  context_ = made(library, options, error);
}

BorrowedContext::~BorrowedContext() {
  if (context_ == nullptr) return;
  {
    const Locked locked(borrowing);
    if (library_.free.size() < kMostFree && library_.free.add({threads_, context_})) return;
  }
  library_.functions.destroy(context_);
}

LockedGpuContext::LockedGpuContext(Library& library, void* const* stream, Sentence& error) {
  pthread_mutex_lock(&launching);
  StreamContext* found = nullptr;
  for (StreamContext& one : library.of_streams) {
    const bool is_its_own = stream != nullptr && one.has_stream && one.stream == *stream;
    if (stream == nullptr || is_its_own || (found == nullptr && !one.has_stream)) found = &one;
    if (is_its_own) break;
  }
  if (found == nullptr) {
    kernels_options options = {};
    options.cuda = 1;
    kernels_context* const context = made(library, options, error);
    if (context == nullptr) return;
    if (!library.of_streams.add({false, nullptr, context})) {
      library.functions.destroy(context);
      refuse(error, "there is no memory for a context");
      return;
    }
    found = &library.of_streams[library.of_streams.size() - 1];
  }
  context_ = found->context;
  if (stream == nullptr) return;
  found->has_stream = true;
  found->stream = *stream;
  library.functions.set_stream(context_, *stream);
}

LockedGpuContext::~LockedGpuContext() {
  pthread_mutex_unlock(&launching);
}

void begin_gpu_node(Library& library) {
  const Locked locked(launching);
  ++library.gpu_nodes;
}

void end_gpu_node(Library& library) {
  const Locked locked(launching);
  if (--library.gpu_nodes > 0) return;
  for (const StreamContext& one : library.of_streams) library.functions.destroy(one.context);
  while (library.of_streams.size() > 0) library.of_streams.shrink();
}

}  // namespace lehr::onnxruntime
