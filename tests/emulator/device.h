// What emitted CUDA text sees instead of NVRTC's built-ins when the host compiler compiles it: vector types,
// hardware indices, barriers, and a second body of every device intrinsic that is inline PTX in
// codegen/prelude.cpp. No system header: it is compiled in front of every kernel.
#pragma once

struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
inline float2 make_float2(float x, float y) {
  return {x, y};
}
inline float4 make_float4(float x, float y, float z, float w) {
  return {x, y, z, w};
}

struct EmulatedIndex {
  unsigned x, y, z;
};

// Implemented by hooks.cpp in the test program that loads the compiled text.
extern "C" {
EmulatedIndex emulated_thread_index();
EmulatedIndex emulated_block_index();
EmulatedIndex emulated_block_dim();
EmulatedIndex emulated_grid_dim();
void emulated_block_barrier(int line);
void emulated_cp_async(void* shared, const void* global, int bytes, int source_bytes);
void emulated_cp_async_commit();
void emulated_cp_async_wait(int pending);
}

#define __global__
#define __device__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define threadIdx emulated_thread_index()
#define blockIdx emulated_block_index()
#define blockDim emulated_block_dim()
#define gridDim emulated_grid_dim()
#define __syncthreads() emulated_block_barrier(__LINE__)

inline void lehr_cp_async_4(void* shared, const void* global) {
  emulated_cp_async(shared, global, 4, 4);
}
inline void lehr_cp_async_8(void* shared, const void* global) {
  emulated_cp_async(shared, global, 8, 8);
}
inline void lehr_cp_async_16(void* shared, const void* global) {
  emulated_cp_async(shared, global, 16, 16);
}
inline void lehr_cp_async_4(void* shared, const void* global, int source_bytes) {
  emulated_cp_async(shared, global, 4, source_bytes);
}
inline void lehr_cp_async_8(void* shared, const void* global, int source_bytes) {
  emulated_cp_async(shared, global, 8, source_bytes);
}
inline void lehr_cp_async_16(void* shared, const void* global, int source_bytes) {
  emulated_cp_async(shared, global, 16, source_bytes);
}
inline void lehr_cp_async_commit() {
  emulated_cp_async_commit();
}
template <int kPending>
inline void lehr_cp_async_wait() {
  emulated_cp_async_wait(kPending);
}
