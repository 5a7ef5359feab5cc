#include "plugin/prepacked.h"

#include <pthread.h>
#include <stdlib.h>

#include <cstdlib>
#include <cstring>

#include "runtime/memory.h"

namespace lehr::onnxruntime {
namespace {

Prepacked* all_shared = nullptr;
std::uint64_t shared_bytes = 0;
pthread_mutex_t sharing = PTHREAD_MUTEX_INITIALIZER;

void end(Prepacked* one) {
  runtime::Owner<Prepacked> ended;
  ended.reset(one);
  std::free(one->memory);
}

}  // namespace

Prepacked* new_prepacked(std::uint64_t bytes) {
  runtime::Owner<Prepacked> made = runtime::Owner<Prepacked>::make();
  if (!made || posix_memalign(&made->memory, 64, bytes) != 0) return nullptr;
  // All bytes are set, since the bytes between the parameters are compared, too.
  std::memset(made->memory, 0, bytes);
  made->bytes = bytes;
  return made.release();
}

Prepacked* share(Prepacked* made) {
  pthread_mutex_lock(&sharing);
  Prepacked* found = all_shared;
  while (found != nullptr &&
         (found->bytes != made->bytes || std::memcmp(found->memory, made->memory, made->bytes) != 0))
    found = found->next;
  if (found == nullptr) {
    made->next = all_shared;
    found = all_shared = made;
    shared_bytes += made->bytes;
  }
  ++found->users;
  pthread_mutex_unlock(&sharing);
  if (found != made) end(made);
  return found;
}

void drop(Prepacked* used) {
  pthread_mutex_lock(&sharing);
  const bool is_last = used->users <= 1;  // 0: the memory was never shared
  if (!is_last) --used->users;
  if (is_last)
    for (Prepacked** at = &all_shared; *at != nullptr; at = &(*at)->next)
      if (*at == used) {
        *at = used->next;
        shared_bytes -= used->bytes;
        break;
      }
  pthread_mutex_unlock(&sharing);
  if (is_last) end(used);
}

std::uint64_t prepacked_bytes() {
  pthread_mutex_lock(&sharing);
  const std::uint64_t bytes = shared_bytes;
  pthread_mutex_unlock(&sharing);
  return bytes;
}

}  // namespace lehr::onnxruntime
