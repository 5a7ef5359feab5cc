// The functions that compiled emulated text calls. These are the functions declared in device.h, and the
// hooks that the host compiler inserts before every memory access with -fsanitize=thread (the sanitizer's run
// time is not linked, these hooks replace it).
#include <cstddef>
#include <cstdint>

#include "machine.h"
#include "number.h"

using namespace lehr::emulator;

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
void emulated_flop() {
  Machine::current()->flop();
}
void emulated_block_barrier(int line) {
  Machine::current()->block_barrier(line);
}
void emulated_named_barrier(int id, int threads, int line) {
  Machine::current()->named_barrier(id, threads, line);
}
unsigned emulated_ballot(int predicate, int line) {
  std::uint32_t votes = predicate != 0 ? 1 : 0;
  WarpCall call;
  call.what = Collective::kVote;
  call.line = line;
  call.a = call.out = &votes;
  Machine::current()->warp_collective(call);
  return votes;
}
void emulated_warp_barrier(int line) {
  WarpCall call;
  call.line = line;
  Machine::current()->warp_collective(call);
}
void emulated_device_fence() {
  Machine::current()->device_fence();
}
unsigned emulated_atomic_inc(unsigned* counter, unsigned limit) {
  return Machine::current()->atomic_add(counter, 1, limit);
}
unsigned emulated_atomic_add(unsigned* counter, unsigned step) {
  return Machine::current()->atomic_add(counter, step, ~0u);
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

void emulated_ldmatrix(std::uint32_t* registers, const void* row, int count, bool transposed, int line) {
  WarpCall call;
  call.what = Collective::kLoadMatrix;
  call.line = line;
  call.count = count;
  call.transposed = transposed;
  call.row = static_cast<unsigned char*>(const_cast<void*>(row));
  call.out = registers;
  Machine::current()->warp_collective(call);
}
void emulated_stmatrix(void* row, const std::uint32_t* registers, int count, bool transposed, int line) {
  WarpCall call;
  call.what = Collective::kStoreMatrix;
  call.line = line;
  call.count = count;
  call.transposed = transposed;
  call.row = static_cast<unsigned char*>(row);
  call.a = registers;
  Machine::current()->warp_collective(call);
}
void emulated_mma(void* d, const std::uint32_t* a, const std::uint32_t* b, EmulatedMma type, int line) {
  WarpCall call;
  call.what = Collective::kMma;
  call.line = line;
  call.type = type;
  call.out = static_cast<std::uint32_t*>(d);
  call.a = a;
  call.b = b;
  Machine::current()->warp_collective(call);
}
int emulated_uniform(int value, int line) {
  WarpCall call;
  call.what = Collective::kUniform;
  call.line = line;
  std::uint32_t bits = static_cast<std::uint32_t>(value);
  call.a = &bits;
  Machine::current()->warp_collective(call);
  return value;
}
void emulated_shuffle_xor(void* value, int lane_mask, int width, int line) {
  WarpCall call;
  call.what = Collective::kShuffle;
  call.line = line;
  call.count = width;
  call.lane_mask = lane_mask;
  call.out = static_cast<std::uint32_t*>(value);
  call.a = call.out;
  Machine::current()->warp_collective(call);
}
float emulated_f32_from_f16(unsigned bits) {
  return decode(kF16, bits);
}
float emulated_f32_from_bf16(unsigned bits) {
  return decode(kBF16, bits);
}
float emulated_f32_from_e4m3(unsigned bits) {
  return decode(kE4M3, bits);
}
float emulated_f32_from_e5m2(unsigned bits) {
  return decode(kE5M2, bits);
}
unsigned emulated_f16_from_f32(float value) {
  return encode(kF16, value);
}
unsigned emulated_bf16_from_f32(float value) {
  return encode(kBF16, value);
}
unsigned emulated_tf32(float value) {
  return round_to_tf32(value);
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
