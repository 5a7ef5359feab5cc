// What compiled emulated text calls: the functions that device.h declares, and the hooks that the host
// compiler puts before every memory access under -fsanitize=thread (the sanitizer's run time is not linked;
// these stand in for it).
#include <cstddef>
#include <cstdint>

#include "machine.h"

using lehr::emulator::Machine;

namespace {

void touch(const void* address, std::size_t bytes, bool writes) {
  if (Machine* machine = Machine::current())
    machine->access(reinterpret_cast<std::uintptr_t>(address), bytes, writes);
}

struct Index {
  unsigned x, y, z;
};
Index index_of(const std::array<unsigned, 3>& values) {
  return {values[0], values[1], values[2]};
}

}  // namespace

extern "C" {

Index emulated_thread_index() {
  return index_of(Machine::current()->thread_index());
}
Index emulated_block_index() {
  return index_of(Machine::current()->block_index());
}
Index emulated_block_dim() {
  return index_of(Machine::current()->block_dim());
}
Index emulated_grid_dim() {
  return index_of(Machine::current()->grid_dim());
}
void emulated_block_barrier(int line) {
  Machine::current()->block_barrier(line);
}
void emulated_cp_async(void* shared, const void* global, int bytes, int source_bytes) {
  Machine::current()->cp_async(shared, global, bytes, source_bytes);
}
void emulated_cp_async_commit() {
  Machine::current()->cp_async_commit();
}
void emulated_cp_async_wait(int pending) {
  Machine::current()->cp_async_wait(pending);
}

void __tsan_init() {}
void __tsan_func_entry(void*) {}
void __tsan_func_exit() {}
#define LEHR_ACCESS_HOOKS(bytes)                      \
  void __tsan_read##bytes(void* address) {            \
    touch(address, bytes, false);                     \
  }                                                   \
  void __tsan_write##bytes(void* address) {           \
    touch(address, bytes, true);                      \
  }                                                   \
  void __tsan_unaligned_read##bytes(void* address) {  \
    touch(address, bytes, false);                     \
  }                                                   \
  void __tsan_unaligned_write##bytes(void* address) { \
    touch(address, bytes, true);                      \
  }
LEHR_ACCESS_HOOKS(1)
LEHR_ACCESS_HOOKS(2)
LEHR_ACCESS_HOOKS(4)
LEHR_ACCESS_HOOKS(8)
LEHR_ACCESS_HOOKS(16)
void __tsan_read_range(void* address, std::size_t bytes) {
  touch(address, bytes, false);
}
void __tsan_write_range(void* address, std::size_t bytes) {
  touch(address, bytes, true);
}

}  // extern "C"
