// Replaces NVRTC's built-ins when the host compiler compiles emitted CUDA text: vector types, hardware
// indices, barriers. It also has a second body for every device intrinsic whose body in target/cuda/ is
// inline PTX under `#ifndef LEHR_EMULATOR`. It includes no system header, since it is compiled in front of
// every kernel.
#pragma once

#include "mma_type.h"

#define LEHR_EMULATOR

struct EmulatedIndex {
  unsigned x, y, z;
};

// Implemented by hooks.cpp in the test program that loads the compiled text.
extern "C" {
EmulatedIndex emulated_thread_index();
EmulatedIndex emulated_block_index();
EmulatedIndex emulated_block_dim();
EmulatedIndex emulated_grid_dim();
void emulated_flop();
void emulated_block_barrier(int line);
void emulated_named_barrier(int id, int threads, int line);
unsigned emulated_ballot(int predicate, int line);
void emulated_warp_barrier(int line);
void emulated_device_fence();
unsigned emulated_atomic_inc(unsigned* counter, unsigned limit);
unsigned emulated_atomic_add(unsigned* counter, unsigned step);
void emulated_cp_async(void* shared, const void* global, int bytes, int source_bytes);
void emulated_cp_async_commit();
void emulated_cp_async_wait(int pending);
void emulated_ldmatrix(unsigned* registers, const void* row, int count, bool transposed, int line);
void emulated_stmatrix(void* row, const unsigned* registers, int count, bool transposed, int line);
void emulated_mma(void* d, const unsigned* a, const unsigned* b, EmulatedMma type, int line);
int emulated_uniform(int value, int line);
void emulated_shuffle_xor(void* value, int lane_mask, int width, int line);
void emulated_mbarrier_init(const void* barrier, int arrivals);
void emulated_mbarrier_init_fence();
void emulated_mbarrier_arrive(const void* barrier, int transaction_bytes);
void emulated_mbarrier_arrive_at(const void* barrier, int rank);
void emulated_mbarrier_wait(const void* barrier, int parity, int line);
void emulated_cluster_barrier(int relaxed, int line);
void emulated_cluster_load(void* to, const void* shared, int rank);
void emulated_tma_load(void* shared, const void* map, const void* barrier, int c0, int c1, int c2,
                       unsigned mask);
void emulated_tma_im2col(void* shared, const void* map, const void* barrier, int c, int w, int h, int n,
                         int offset_w, int offset_h, unsigned mask);
void emulated_tma_store(const void* shared, const void* map, int c0, int c1, int c2);
void emulated_tma_store_commit();
void emulated_tma_store_wait(int pending, bool complete);
void emulated_tma_reduce(const void* shared, const void* global, int bytes, bool is_float);
void emulated_async_proxy_fence();
void emulated_wgmma_fence();
void emulated_wgmma(void* sums, int columns, unsigned long long a, unsigned long long b, int add, int along_m,
                    int along_n, const char* type, int line);
void emulated_wgmma_of_registers(void* sums, int columns, const unsigned* a, unsigned long long b, int add,
                                 const char* type, int line);
void emulated_wgmma_commit();
void emulated_wgmma_wait(int pending, int line);
void emulated_set_max_registers(int count, bool more);
void emulated_griddepcontrol(bool wait);
float emulated_f32_from_f16(unsigned bits);
float emulated_f32_from_bf16(unsigned bits);
float emulated_f32_from_e4m3(unsigned bits);
float emulated_f32_from_e5m2(unsigned bits);
unsigned emulated_f16_from_f32(float value);
unsigned emulated_bf16_from_f32(float value);
unsigned emulated_tf32(float value);
}

typedef float EmulatedReal;

#ifdef LEHR_COUNT_FLOPS
// The type that replaces `float` in the text. It reports each addition, subtraction, multiplication and
// division, as ir::analyze counts them. Comparisons are not counted, so a minimum is not counted either.
struct CountedFloat {
  EmulatedReal value;
  CountedFloat() = default;
  template <typename T>
  CountedFloat(T x) : value(static_cast<EmulatedReal>(x)) {}
  template <typename T>
  explicit operator T() const {
    return static_cast<T>(value);
  }
#define LEHR_COUNTED(op)                                            \
  friend CountedFloat operator op(CountedFloat a, CountedFloat b) { \
    emulated_flop();                                                \
    return a.value op b.value;                                      \
  }                                                                 \
  CountedFloat& operator op## = (CountedFloat b) {                  \
    return *this = *this op b;                                      \
  }
  LEHR_COUNTED(+)
  LEHR_COUNTED(-)
  LEHR_COUNTED(*)
  LEHR_COUNTED(/)
#undef LEHR_COUNTED
  friend bool operator<(CountedFloat a, CountedFloat b) { return a.value < b.value; }
  CountedFloat operator-() const { return -value; }
};
#define float CountedFloat
#endif

// The functions of one value that target/cuda/dialect.cpp calls.
extern "C" {
EmulatedReal expf(EmulatedReal x);
EmulatedReal tanhf(EmulatedReal x);
EmulatedReal erff(EmulatedReal x);
double exp(double x);
double tanh(double x);
double erfc(double x);
}
#ifdef LEHR_COUNT_FLOPS
inline float expf(float x) {
  return expf(x.value);
}
inline float tanhf(float x) {
  return tanhf(x.value);
}
inline float erff(float x) {
  return erff(x.value);
}
#endif
inline float __fdividef(float a, float b) {
  return a / b;
}

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
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};

#define __global__
#define __device__ static
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __cluster_dims__(...)
#define __shared__
#define __align__(bytes) __attribute__((aligned(bytes)))
#define threadIdx emulated_thread_index()
#define blockIdx emulated_block_index()
#define blockDim emulated_block_dim()
#define gridDim emulated_grid_dim()
#define __syncthreads() emulated_block_barrier(__LINE__)
#define __syncwarp() emulated_warp_barrier(__LINE__)
#define __ballot_sync(mask, predicate) emulated_ballot(predicate, __LINE__)
#define __any_sync(mask, predicate) (emulated_ballot(predicate, __LINE__) != 0)
#define __all_sync(mask, predicate) (emulated_ballot(predicate, __LINE__) == ~0u)
// The value must be the same in all lanes. It is taken from lane 0.
#define __shfl_sync(mask, value, lane) emulated_uniform(value, __LINE__)
#define __threadfence() emulated_device_fence()
#define atomicInc emulated_atomic_inc
#define atomicAdd emulated_atomic_add

inline unsigned __float_as_uint(float x) {
  return __builtin_bit_cast(unsigned, x);
}
inline float __uint_as_float(unsigned x) {
  return __builtin_bit_cast(float, x);
}
inline long long __double_as_longlong(double x) {
  return __builtin_bit_cast(long long, x);
}
inline double __longlong_as_double(long long x) {
  return __builtin_bit_cast(double, x);
}

#define __grid_constant__
extern unsigned char emulated_shared[] __asm__("lehr_shared");
inline unsigned long long __cvta_generic_to_shared(const void* pointer) {
  return static_cast<unsigned long long>(static_cast<const unsigned char*>(pointer) - emulated_shared);
}

inline void lehr_named_barrier(int id, int threads = 128, int line = __builtin_LINE()) {
  emulated_named_barrier(id, threads, line);
}

inline void lehr_prefetch(const void*) {}
inline void lehr_tensor_map_prefetch(const void*) {}

inline void lehr_mbarrier_init(unsigned* barrier, int arrivals) {
  emulated_mbarrier_init(barrier, arrivals);
}
inline void lehr_mbarrier_init_fence() {
  emulated_mbarrier_init_fence();
}
inline void lehr_mbarrier_arrive(unsigned* barrier, int arrives) {
  if (arrives) emulated_mbarrier_arrive(barrier, 0);
}
inline void lehr_mbarrier_expect_tx(unsigned* barrier, int bytes) {
  emulated_mbarrier_arrive(barrier, bytes);
}
inline void lehr_mbarrier_wait(unsigned* barrier, int parity, int line = __builtin_LINE()) {
  emulated_mbarrier_wait(barrier, parity, line);
}
inline void lehr_mbarrier_arrive_cluster(unsigned* barrier, int rank, int arrives) {
  if (arrives) emulated_mbarrier_arrive_at(barrier, rank);
}
inline void lehr_cluster_barrier(int line = __builtin_LINE()) {
  emulated_cluster_barrier(false, line);
}
inline void lehr_cluster_barrier_relaxed(int line = __builtin_LINE()) {
  emulated_cluster_barrier(true, line);
}
inline void lehr_cluster_load_16(void* to, const void* shared, int rank) {
  emulated_cluster_load(to, shared, rank);
}
template <int kHint = 0>
inline void lehr_tma_load_2d(void* shared, const void* map, unsigned* barrier, int c0, int c1) {
  emulated_tma_load(shared, map, barrier, c0, c1, 0, 0);
}
template <int kHint = 0>
inline void lehr_tma_load_3d(void* shared, const void* map, unsigned* barrier, int c0, int c1, int c2) {
  emulated_tma_load(shared, map, barrier, c0, c1, c2, 0);
}
template <int kHint = 0>
inline void lehr_tma_multicast_2d(void* shared, const void* map, unsigned* barrier, int c0, int c1,
                                  int mask) {
  emulated_tma_load(shared, map, barrier, c0, c1, 0, static_cast<unsigned>(mask));
}
template <int kHint = 0>
inline void lehr_tma_multicast_3d(void* shared, const void* map, unsigned* barrier, int c0, int c1, int c2,
                                  int mask) {
  emulated_tma_load(shared, map, barrier, c0, c1, c2, static_cast<unsigned>(mask));
}
template <int kHint = 0>
inline void lehr_tma_im2col_4d(void* shared, const void* map, unsigned* barrier, int c, int w, int h, int n,
                               int offset_w, int offset_h) {
  emulated_tma_im2col(shared, map, barrier, c, w, h, n, offset_w, offset_h, 0);
}
template <int kHint = 0>
inline void lehr_tma_im2col_multicast_4d(void* shared, const void* map, unsigned* barrier, int c, int w,
                                         int h, int n, int offset_w, int offset_h, int mask) {
  emulated_tma_im2col(shared, map, barrier, c, w, h, n, offset_w, offset_h, static_cast<unsigned>(mask));
}
inline void lehr_tma_store_2d(const void* shared, const void* map, int c0, int c1) {
  emulated_tma_store(shared, map, c0, c1, 0);
}
inline void lehr_tma_store_3d(const void* shared, const void* map, int c0, int c1, int c2) {
  emulated_tma_store(shared, map, c0, c1, c2);
}
inline void lehr_tma_store_commit() {
  emulated_tma_store_commit();
}
template <int kPending>
inline void lehr_tma_store_wait() {
  emulated_tma_store_wait(kPending, false);
}
template <int kPending>
inline void lehr_tma_store_wait_complete() {
  emulated_tma_store_wait(kPending, true);
}
inline void lehr_tma_reduce_add_f32(const void* shared, void* global, int bytes) {
  emulated_tma_reduce(shared, global, bytes, true);
}
inline void lehr_tma_reduce_add_s32(const void* shared, void* global, int bytes) {
  emulated_tma_reduce(shared, global, bytes, false);
}
inline void lehr_async_proxy_fence() {
  emulated_async_proxy_fence();
}
inline void lehr_wgmma_fence() {
  emulated_wgmma_fence();
}
inline void lehr_wgmma_commit() {
  emulated_wgmma_commit();
}
template <int kPending>
inline void lehr_wgmma_wait(int line = __builtin_LINE()) {
  emulated_wgmma_wait(kPending, line);
}
template <int kCount, typename T>
inline void lehr_wgmma_keep_f32(T*) {}
template <int kCount>
inline void lehr_wgmma_keep_s32(int*) {}
template <int kCount>
inline void lehr_setmaxnreg_inc() {
  emulated_set_max_registers(kCount, true);
}
template <int kCount>
inline void lehr_setmaxnreg_dec() {
  emulated_set_max_registers(kCount, false);
}

// Elects a lane, always the same one. It is not the first lane, so that a kernel that relies on the first
// lane fails.
inline void lehr_elect_one(unsigned* elected, int line = __builtin_LINE()) {
  emulated_ballot(1, line);
  elected[0] = threadIdx.x % 32 == 9;
}
inline void lehr_griddepcontrol_wait() {
  emulated_griddepcontrol(true);
}
inline void lehr_griddepcontrol_launch_dependents() {
  emulated_griddepcontrol(false);
}

#define LEHR_EMULATED_CP_ASYNC(bytes)                                                             \
  inline void lehr_cp_async_##bytes(void* shared, const void* global, int source_bytes = bytes) { \
    emulated_cp_async(shared, global, bytes, source_bytes);                                       \
  }
LEHR_EMULATED_CP_ASYNC(4)
LEHR_EMULATED_CP_ASYNC(8)
LEHR_EMULATED_CP_ASYNC(16)
inline void lehr_cp_async_commit() {
  emulated_cp_async_commit();
}
template <int kPending>
inline void lehr_cp_async_wait() {
  emulated_cp_async_wait(kPending);
}

// The line of a collective is the line of its caller.
#define LEHR_EMULATED_MATRIX(suffix, count, transposed)                                                   \
  inline void lehr_ldmatrix_##suffix(unsigned* registers, const void* row, int line = __builtin_LINE()) { \
    emulated_ldmatrix(registers, row, count, transposed, line);                                           \
  }                                                                                                       \
  inline void lehr_stmatrix_##suffix(void* row, const void* registers, int line = __builtin_LINE()) {     \
    emulated_stmatrix(row, static_cast<const unsigned*>(registers), count, transposed, line);             \
  }
LEHR_EMULATED_MATRIX(x1, 1, false)
LEHR_EMULATED_MATRIX(x2, 2, false)
LEHR_EMULATED_MATRIX(x4, 4, false)
LEHR_EMULATED_MATRIX(x1_trans, 1, true)
LEHR_EMULATED_MATRIX(x2_trans, 2, true)
LEHR_EMULATED_MATRIX(x4_trans, 4, true)

#define LEHR_EMULATED_MMA(shape, accumulator, type)                                  \
  inline void lehr_mma_##shape(accumulator* d, const unsigned* a, const unsigned* b, \
                               int line = __builtin_LINE()) {                        \
    emulated_mma(d, a, b, EmulatedMma::type, line);                                  \
  }
LEHR_EMULATED_MMA(m16n8k16_f32_bf16, float, kBF16)
LEHR_EMULATED_MMA(m16n8k16_f32_f16, float, kF16)
LEHR_EMULATED_MMA(m16n8k8_f32_f16, float, kF16HalfK)
LEHR_EMULATED_MMA(m16n8k8_f32_tf32, float, kTF32)
LEHR_EMULATED_MMA(m16n8k32_s32_s8, int, kS8)
LEHR_EMULATED_MMA(m16n8k32_f32_e4m3, float, kE4M3)
LEHR_EMULATED_MMA(m16n8k32_f32_e5m2, float, kE5M2)

// Adds by a butterfly exchange. All lanes of a group end with the same bits, since both lanes of an exchange
// add the same two numbers.
template <typename T>
inline void emulated_warp_sum(T* value, int width, int line) {
  for (int mask = width / 2; mask > 0; mask /= 2) {
    T other = *value;
    emulated_shuffle_xor(&other, mask, width, line);
    *value = *value + other;
  }
}
inline void lehr_warp_sum_f32(float* value, int width, int line = __builtin_LINE()) {
  emulated_warp_sum(value, width, line);
}
inline void lehr_warp_exchange_f32(float* value, int width, int line = __builtin_LINE()) {
  emulated_shuffle_xor(value, width / 2, width, line);
}
inline void lehr_warp_sum_s32(int* value, int width, int line = __builtin_LINE()) {
  emulated_warp_sum(value, width, line);
}

inline float lehr_f32_from_f16(unsigned short x) {
  return emulated_f32_from_f16(x);
}
inline float lehr_f32_from_bf16(unsigned short x) {
  return emulated_f32_from_bf16(x);
}
inline float lehr_f32_from_e4m3(unsigned char x) {
  return emulated_f32_from_e4m3(x);
}
inline float lehr_f32_from_e5m2(unsigned char x) {
  return emulated_f32_from_e5m2(x);
}
inline unsigned short lehr_f16_from_f32(float x) {
  return static_cast<unsigned short>(emulated_f16_from_f32(static_cast<EmulatedReal>(x)));
}
inline unsigned short lehr_bf16_from_f32(float x) {
  return static_cast<unsigned short>(emulated_bf16_from_f32(static_cast<EmulatedReal>(x)));
}
inline unsigned lehr_tf32(float x) {
  return emulated_tf32(static_cast<EmulatedReal>(x));
}
