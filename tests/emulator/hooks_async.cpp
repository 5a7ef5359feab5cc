// The functions that compiled emulated text calls for the tensor memory accelerator, mbarriers and wgmma
// (device.h).
#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "machine.h"

using namespace lehr::emulator;

namespace {

EmulatedMma type_named(std::string_view name) {
  constexpr std::array<std::string_view, 6> kNames = {"bf16", "f16", "tf32", "s8", "e4m3", "e5m2"};
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  return static_cast<EmulatedMma>(found - kNames.begin());  // in the order of the enumeration
}

std::size_t param_of(const void* map) {
  std::uint64_t param = 0;  // the first word of the map that program.cpp passes
  std::memcpy(&param, map, sizeof param);
  return static_cast<std::size_t>(param);
}

}  // namespace

extern "C" {

void emulated_mbarrier_init(const void* barrier, int arrivals) {
  Machine::current()->mbarrier_init(barrier, arrivals);
}
void emulated_mbarrier_init_fence() {
  Machine::current()->mbarrier_init_fence();
}
void emulated_mbarrier_arrive(const void* barrier, int transaction_bytes) {
  Machine::current()->mbarrier_arrive(barrier, transaction_bytes);
}
void emulated_mbarrier_wait(const void* barrier, int parity, int line) {
  Machine::current()->mbarrier_wait(barrier, parity, line);
}
void emulated_mbarrier_arrive_at(const void* barrier, int rank) {
  Machine::current()->mbarrier_arrive_at(barrier, rank);
}
void emulated_cluster_barrier(int relaxed, int line) {
  Machine::current()->cluster_barrier(relaxed != 0, line);
}
void emulated_cluster_load(void* to, const void* shared, int rank) {
  Machine::current()->cluster_load(to, shared, rank);
}
void emulated_tma_load(void* shared, const void* map, const void* barrier, int c0, int c1, int c2,
                       unsigned mask) {
  Machine::current()->tma_load(shared, param_of(map), barrier, {{c0, c1, c2, 0}, std::nullopt}, mask);
}
void emulated_tma_im2col(void* shared, const void* map, const void* barrier, int c, int w, int h, int n,
                         int offset_w, int offset_h, unsigned mask) {
  Machine::current()->tma_load(shared, param_of(map), barrier,
                               {{c, w, h, n}, std::array<int, 2>{offset_w, offset_h}}, mask);
}
void emulated_tma_store(const void* shared, const void* map, int c0, int c1, int c2) {
  Machine::current()->tma_store(shared, param_of(map), {{c0, c1, c2, 0}, std::nullopt});
}
void emulated_tma_store_commit() {
  Machine::current()->tma_store_commit();
}
void emulated_tma_store_wait(int pending, bool complete) {
  Machine::current()->tma_store_wait(pending, complete);
}
void emulated_tma_reduce(const void* shared, const void* global, int bytes, bool is_float) {
  Machine::current()->tma_reduce(shared, global, bytes, is_float);
}
void emulated_async_proxy_fence() {
  Machine::current()->async_proxy_fence();
}
void emulated_wgmma_fence() {
  Machine::current()->wgmma_fence();
}
void emulated_wgmma(void* sums, int columns, unsigned long long a, unsigned long long b, int add, int along_m,
                    int along_n, const char* type, int line) {
  Wgmma operation;
  operation.type = type_named(type);
  operation.columns = columns;
  operation.add = add != 0;
  operation.a = {along_m == 0, decoded(a)};
  operation.b = {along_n == 0, decoded(b)};
  Machine::current()->wgmma(static_cast<std::uint32_t*>(sums), operation, line);
}
void emulated_wgmma_of_registers(void* sums, int columns, const unsigned* a, unsigned long long b, int add,
                                 const char* type, int line) {
  Wgmma operation;
  operation.type = type_named(type);
  operation.columns = columns;
  operation.add = add != 0;
  operation.a_in_registers = true;
  operation.b = {true, decoded(b)};
  Machine::current()->wgmma(static_cast<std::uint32_t*>(sums), operation, line, a);
}
void emulated_wgmma_commit() {
  Machine::current()->wgmma_commit();
}
void emulated_wgmma_wait(int pending, int line) {
  Machine::current()->wgmma_wait(pending, line);
}
void emulated_griddepcontrol(bool wait) {
  Machine::current()->griddepcontrol(wait);
}
void emulated_set_max_registers(int count, bool more) {
  Machine::current()->set_max_registers(count, more);
}

}  // extern "C"
