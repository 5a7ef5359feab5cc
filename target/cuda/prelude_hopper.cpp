// Tensor memory accelerator (PTX ISA 9.0, "Data Movement and Conversion Instructions: cp.async.bulk.tensor"),
// reductions ("cp.reduce.async.bulk"), bulk groups ("cp.async.bulk.commit_group"), mbarrier and named
// barriers ("Parallel Synchronization and Communication Instructions: mbarrier", "barrier"), wgmma
// ("Asynchronous Warpgroup Level Matrix Instructions"), setmaxnreg ("Miscellaneous Instructions") and
// griddepcontrol ("Parallel Synchronization and Communication Instructions: griddepcontrol").
#include "target/cuda/prelude_hopper.h"

#include <fmt/core.h>

#include <map>
#include <string_view>

#include "ir/intrinsics.h"

namespace lehr {
namespace {

constexpr std::string_view kHead = "__device__ __forceinline__ ";

std::string device_only(std::string_view function) {
  return fmt::format("#ifndef LEHR_EMULATOR\n{}{}#endif\n", kHead, function);
}

/// Returns the function of an instruction without operands.
std::string plain(std::string_view name, std::string_view ptx) {
  return device_only(
      fmt::format("void lehr_{}() {{\n  asm volatile(\"{};\" ::: \"memory\");\n}}\n", name, ptx));
}

/// Returns the function of an instruction with one number. It is a template, because the number must be an
/// immediate.
std::string with_number(std::string_view name, std::string_view ptx) {
  return fmt::format(
      "#ifndef LEHR_EMULATOR\ntemplate <int kNumber>\n{}void lehr_{}() {{\n  asm volatile(\"{} %0;\" "
      "::\"n\"(kNumber) : "
      "\"memory\");\n}}\n#endif\n",
      kHead, name, ptx);
}

/// Returns the function of an operation on an mbarrier in shared memory that takes one number.
std::string on_barrier(std::string_view name, std::string_view number, std::string_view ptx) {
  return device_only(fmt::format(
      R"(void lehr_{0}(unsigned* barrier, int {1}) {{
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile("{2}" ::"r"(address), "r"({1}) : "memory");
}}
)",
      name, number, ptx));
}

/// Returns the function of a load by the tensor memory accelerator. `im2col`: it reads pixels, with the
/// offset of a filter's tap. `multicast`: it copies to several blocks of the cluster, which a mask selects.
/// The hint is described in ir/intrinsics.cpp.
std::string tma_load(int rank, bool im2col, bool multicast) {
  std::string parameters;
  std::string places;
  std::string operands;
  for (int d = 0; d < rank; ++d) {
    parameters += fmt::format(", int c{}", d);
    places += fmt::format("{}%{}", d == 0 ? "" : ", ", 3 + d);
    operands += fmt::format(", \"r\"(c{})", d);
  }
  int operand = 3 + rank;
  std::string behind;  // operand number of the mbarrier, after the coordinates
  if (im2col) {
    parameters += ", int offset_w, int offset_h";
    operands +=
        ", \"h\"(static_cast<unsigned short>(offset_w)), \"h\"(static_cast<unsigned short>(offset_h))";
    behind += fmt::format(", {{%{}, %{}}}", operand, operand + 1);
    operand += 2;
  }
  if (multicast) {
    parameters += ", int mask";
    operands += ", \"h\"(static_cast<unsigned short>(mask))";
    behind += fmt::format(", %{}", operand);
    operand += 1;
  }
  const std::string_view name =
      im2col ? (multicast ? "im2col_multicast" : "im2col") : (multicast ? "multicast" : "load");
  const std::string load =
      fmt::format("cp.async.bulk.tensor.{}d.shared::cluster.global.{}.mbarrier::complete_tx::bytes{}", rank,
                  im2col ? "im2col" : "tile", multicast ? ".multicast::cluster" : "");
  return fmt::format(
      R"(#ifndef LEHR_EMULATOR
template <int kHint>
{8}void lehr_tma_{0}_{1}d(void* shared, const LehrTensorMap* map, unsigned* barrier{2}) {{
  const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const unsigned done = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  if constexpr (kHint == 0) {{
    asm volatile("{3} [%0], "
                 "[%1, {{{4}}}], [%2]{5};" ::"r"(to), "l"(map), "r"(done){6}
                 : "memory");
  }} else {{
    unsigned long long policy;
    if constexpr (kHint == 1) asm("createpolicy.fractional.L2::evict_first.b64 %0, 1.0;" : "=l"(policy));
    if constexpr (kHint == 2) asm("createpolicy.fractional.L2::evict_last.b64 %0, 1.0;" : "=l"(policy));
    asm volatile("{3}.L2::cache_hint [%0], "
                 "[%1, {{{4}}}], [%2]{5}, %{7};" ::"r"(to), "l"(map), "r"(done){6}, "l"(policy)
                 : "memory");
  }}
}}
#endif
)",
      name, rank, parameters, load, places, behind, operands, operand, kHead);
}

std::string tma_store(int rank) {
  std::string parameters;
  std::string places;
  std::string operands;
  for (int d = 0; d < rank; ++d) {
    parameters += fmt::format(", int c{}", d);
    places += fmt::format("{}%{}", d == 0 ? "" : ", ", 2 + d);
    operands += fmt::format(", \"r\"(c{})", d);
  }
  return device_only(fmt::format(
      R"(void lehr_tma_store_{0}d(const void* shared, const LehrTensorMap* map{1}) {{
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.bulk.tensor.{0}d.global.shared::cta.tile.bulk_group [%1, {{{2}}}], [%0];" ::"r"(from),
               "l"(map){3}
               : "memory");
}}
)",
      rank, parameters, places, operands));
}

/// Returns the function of a reduction by the tensor memory accelerator. `type` is the type of the sums as
/// PTX spells it.
std::string tma_reduce(std::string_view type) {
  return device_only(fmt::format(
      R"(void lehr_tma_reduce_add_{0}(const void* shared, void* global, int bytes) {{
  const unsigned from = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.{0} [%0], [%1], %2;" ::"l"(
                   __cvta_generic_to_global(global)),
               "r"(from), "r"(bytes)
               : "memory");
}}
)",
      type));
}

/// The part of a wgmma's name after the type of the accumulators: "bf16" operands in "f32_bf16".
struct WgmmaType {
  std::string_view operand;
  bool is_float;      ///< true: sums in f32, false: sums in s32
  bool transposes;    ///< whether it takes the immediates that transpose operands which do not lie along k
  bool of_registers;  ///< whether A is in registers
};
WgmmaType wgmma_type(std::string_view name) {
  const std::string_view operand = name.substr(name.rfind('_') + 1);
  return {operand, operand != "s8", operand == "bf16" || operand == "f16",
          name.find("_registers_") != std::string_view::npos};
}

/// "%0, %1" and `"+f"(d[0]), "+f"(d[1])` for `count` accumulators.
struct WgmmaSums {
  std::string places, operands;
};
WgmmaSums wgmma_sums(const WgmmaType& type, int count) {
  WgmmaSums sums;
  for (int i = 0; i < count; ++i) {
    sums.places += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    sums.operands += fmt::format("{}\"+{}\"(d[{}])", i == 0 ? "" : ", ", type.is_float ? "f" : "r", i);
  }
  return sums;
}

/// Returns the function of a wgmma with A from registers. `name`: "wgmma_m64n128k8_f32_registers_tf32".
std::string wgmma_of_registers(std::string_view name) {
  const int columns = ir::wgmma_columns(name), count = columns / 2;
  const WgmmaType type = wgmma_type(name);
  const WgmmaSums sums = wgmma_sums(type, count);
  return fmt::format(
      R"({0}void lehr_{1}(float* d, const unsigned* a, const void* b, int swizzle_b, int leading_b, int stride_b,
    int add) {{
  const unsigned long long b_tile = lehr_matrix_descriptor(b, swizzle_b, leading_b, stride_b);
#ifdef LEHR_EMULATOR
  emulated_wgmma_of_registers(d, {2}, a, b_tile, add, "{3}", __LINE__);
#else
  asm volatile(
      "{{\n.reg .pred p;\nsetp.ne.b32 p, %{4}, 0;\n"
      "wgmma.mma_async.sync.aligned.{5}.f32.{3}.{3} {{{6}}}, {{%{7}, %{8}, %{9}, %{10}}}, %{11}, p, 1, 1;\n}}"
      : {12}
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b_tile), "r"(add));
#endif
}}
)",
      kHead, name, columns, type.operand, count + 5, name.substr(6, name.find('_', 6) - 6), sums.places,
      count, count + 1, count + 2, count + 3, count + 4, sums.operands);
}

/// Returns the function of a wgmma. `name`: "wgmma_m64n128k16_f32_bf16". It adds A B to the accumulators of
/// the warpgroup, or sets them to A B.
std::string wgmma(std::string_view name) {
  const int columns = ir::wgmma_columns(name);
  const WgmmaType type = wgmma_type(name);
  if (type.of_registers) return wgmma_of_registers(name);
  const std::string_view shape = name.substr(6, name.find('_', 6) - 6);
  const int registers = columns / 2;
  const WgmmaSums of_d = wgmma_sums(type, registers);
  const std::string immediates = type.transposes
                                     ? fmt::format(", 1, 1, %{}, %{}", registers + 3, registers + 4)
                                 : type.is_float ? ", 1, 1"
                                                 : "";
  const std::string_view sums = type.is_float ? "f32" : "s32";
  const std::string_view element = type.is_float ? "float" : "int";
  return fmt::format(
      R"(template <int kAlongM, int kAlongN>
{0}void lehr_{1}({2}* d, const void* a, const void* b, int swizzle_a, int leading_a,
    int stride_a, int swizzle_b, int leading_b, int stride_b, int add) {{
  const unsigned long long a_tile = lehr_matrix_descriptor(a, swizzle_a, leading_a, stride_a);
  const unsigned long long b_tile = lehr_matrix_descriptor(b, swizzle_b, leading_b, stride_b);
#ifdef LEHR_EMULATOR
  emulated_wgmma(d, {3}, a_tile, b_tile, add, kAlongM, kAlongN, "{4}", __LINE__);
#else
  asm volatile(
      "{{\n.reg .pred p;\nsetp.ne.b32 p, %{5}, 0;\n"
      "wgmma.mma_async.sync.aligned.{6}.{7}.{4}.{4} {{{8}}}, %{9}, %{10}, p{11};\n}}"
      : {12}
      : "l"(a_tile), "l"(b_tile), "r"(add){13});
#endif
}}
)",
      kHead, name, element, columns, type.operand, registers + 2, shape, sums, of_d.places, registers,
      registers + 1, immediates, of_d.operands, type.transposes ? ", \"n\"(kAlongM), \"n\"(kAlongN)" : "");
}

/// Keeps the compiler from moving reads of the accumulators before the wait that precedes this statement.
std::string keep(std::string_view name, std::string_view element, std::string_view constraint) {
  return fmt::format(
      R"(#ifndef LEHR_EMULATOR
template <int kCount>
{0}void lehr_{1}({2}* sums) {{
#pragma unroll
  for (int i = 0; i < kCount; ++i) asm volatile("" : "+{3}"(sums[i])::"memory");
}}
#endif
)",
      kHead, name, element, constraint);
}

// PTX ISA 9.0, "Matrix Descriptor Format" of wgmma: address, leading and stride byte offset in units of 16
// bytes, base offset 0 (tiles are aligned to the swizzle's pattern), swizzle mode 1: 128 bytes, 2: 64, 3: 32.
constexpr std::string_view kDescriptor =
    R"(unsigned long long lehr_matrix_descriptor(const void* tile, int swizzle, int leading, int stride) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(tile));
  const unsigned mode = swizzle == 128 ? 1 : swizzle == 64 ? 2 : swizzle == 32 ? 3 : 0;
  const unsigned low = (address & 0x3FFFF) >> 4 | static_cast<unsigned>(leading) >> 4 << 16;
  const unsigned high = static_cast<unsigned>(stride) >> 4 | mode << 30;
  return static_cast<unsigned long long>(high) << 32 | low;
}
)";

// Waits for the end of the phase with that parity. The instruction sleeps in the hardware for a limited time
// only, hence the loop. It acquires from its own block alone, even if other blocks of the cluster arrive,
// because those write nothing that is read afterwards. .acquire.cluster would empty the L1 at each wait
// (CCTL.IVALL).
constexpr std::string_view kWait =
    R"(void lehr_mbarrier_wait(unsigned* barrier, int parity) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "{\n.reg .pred p;\nLEHR_WAIT:\nmbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
      "@p bra LEHR_DONE;\nbra LEHR_WAIT;\nLEHR_DONE:\n}" ::"r"(address),
      "r"(parity)
      : "memory");
}
)";

// PTX ISA 9.0, "mapa": gives the same address in the shared memory of block `rank` of the cluster. The
// arrival has no scope, so it releases to its own block alone: the caller has written nothing that the other
// block reads. With .release.cluster, ptxas would emit a fence for the whole device (13.0: MEMBAR.ALL.GPU,
// ERRBAR, CGAERRBAR). .relaxed.cluster would mean the same as no scope, but needs a newer PTX ISA than CUDA
// 12.0 has.
constexpr std::string_view kArriveCluster =
    R"(void lehr_mbarrier_arrive_cluster(unsigned* barrier, int rank, int arrives) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(barrier));
  asm volatile(
      "{\n.reg .pred p;\n.reg .b32 there;\nsetp.ne.s32 p, %2, 0;\n"
      "@p mapa.shared::cluster.u32 there, %0, %1;\n"
      "@p mbarrier.arrive.shared::cluster.b64 _, [there];\n}" ::"r"(address),
      "r"(rank), "r"(arrives)
      : "memory");
}
)";

// The load from another block's shared memory, at the same address.
constexpr std::string_view kClusterLoad =
    R"(void lehr_cluster_load_16(void* to, const void* shared, int rank) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  unsigned* words = static_cast<unsigned*>(to);
  asm volatile(
      "{\n.reg .b32 there;\nmapa.shared::cluster.u32 there, %4, %5;\n"
      "ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [there];\n}"
      : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
      : "r"(address), "r"(rank)
      : "memory");
}
)";

// PTX ISA 9.0, "barrier.cluster". All threads take part, even if their warps have diverged before.
constexpr std::string_view kClusterBarrier =
    R"(void lehr_cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
)";

// The barrier without a memory fence. After fence.mbarrier_init.release.cluster, the cluster sees initialised
// mbarriers (PTX ISA 9.0, "membar/fence", whose example this is).
constexpr std::string_view kClusterBarrierRelaxed =
    R"(void lehr_cluster_barrier_relaxed() {
  asm volatile("barrier.cluster.arrive.relaxed;\nbarrier.cluster.wait.acquire;" ::: "memory");
}
)";

// PTX ISA 9.0, "prefetch": for a map that is a parameter of the kernel.
constexpr std::string_view kPrefetchMap =
    R"(void lehr_tensor_map_prefetch(const LehrTensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
)";

// PTX ISA 9.0, "Warp-level matrix store instruction: stmatrix". `values` are 8 elements of 16 bits: elements
// 2 i and 2 i + 1 belong to matrix i.
constexpr std::string_view kStmatrix =
    R"(void lehr_stmatrix_x4(void* row, const void* values) {
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  const unsigned* pairs = static_cast<const unsigned*>(values);
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(address),
               "r"(pairs[0]), "r"(pairs[1]), "r"(pairs[2]), "r"(pairs[3])
               : "memory");
}
)";

// PTX ISA 9.0, "Parallel Synchronization and Communication Instructions: elect.sync". ptxas recognises that
// only one lane continues, which it does not for a comparison of thread numbers.
constexpr std::string_view kElectOne =
    R"(void lehr_elect_one(unsigned* elected) {
  asm volatile("{\n.reg .pred p;\nelect.sync _|p, 0xFFFFFFFF;\nselp.u32 %0, 1, 0, p;\n}" : "=r"(elected[0]));
}
)";

std::map<std::string, std::string> all_snippets() {
  return {
      // The size and alignment of CUtensorMap (CUDA Driver API, "Tensor Map Object Management").
      {"tensor_map", "struct alignas(64) LehrTensorMap {\n  unsigned long long words[16];\n};\n"},
      {"matrix_descriptor", std::string(kHead) + std::string(kDescriptor)},
      {"mbarrier_init", on_barrier("mbarrier_init", "arrivals", "mbarrier.init.shared::cta.b64 [%0], %1;")},
      // Needed before the first phase. Makes initialised mbarriers visible to other threads (together with a
      // barrier) and to the tensor memory accelerator.
      {"mbarrier_init_fence",
       device_only("void lehr_mbarrier_init_fence() {\n"
                   "  asm volatile(\"fence.mbarrier_init.release.cluster;\" ::: \"memory\");\n"
                   "  asm volatile(\"fence.proxy.async.shared::cta;\" ::: \"memory\");\n}\n")},
      {"mbarrier_arrive",
       on_barrier(
           "mbarrier_arrive", "arrives",
           "{\\n.reg .pred p;\\nsetp.ne.s32 p, %1, 0;\\n@p mbarrier.arrive.shared::cta.b64 _, [%0];\\n}")},
      {"mbarrier_expect_tx",
       on_barrier("mbarrier_expect_tx", "bytes", "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;")},
      {"mbarrier_arrive_cluster", device_only(kArriveCluster)},
      {"mbarrier_wait", device_only(kWait)},
      {"cluster_barrier", device_only(kClusterBarrier)},
      {"cluster_barrier_relaxed", device_only(kClusterBarrierRelaxed)},
      {"tensor_map_prefetch", device_only(kPrefetchMap)},
      {"cluster_load_16", device_only(kClusterLoad)},
      {"tma_load_2d", tma_load(2, false, false)},
      {"tma_load_3d", tma_load(3, false, false)},
      {"tma_multicast_2d", tma_load(2, false, true)},
      {"tma_multicast_3d", tma_load(3, false, true)},
      {"tma_im2col_4d", tma_load(4, true, false)},
      {"tma_im2col_multicast_4d", tma_load(4, true, true)},
      {"tma_store_2d", tma_store(2)},
      {"tma_store_3d", tma_store(3)},
      {"tma_reduce_add_f32", tma_reduce("f32")},
      {"tma_reduce_add_s32", tma_reduce("s32")},
      {"tma_store_commit", plain("tma_store_commit", "cp.async.bulk.commit_group")},
      {"tma_store_wait", with_number("tma_store_wait", "cp.async.bulk.wait_group.read")},
      {"tma_store_wait_complete", with_number("tma_store_wait_complete", "cp.async.bulk.wait_group")},
      // Makes this thread's earlier writes to shared memory visible to the tensor memory accelerator.
      {"async_proxy_fence", plain("async_proxy_fence", "fence.proxy.async.shared::cta")},
      {"elect_one", device_only(kElectOne)},
      {"griddepcontrol_wait", plain("griddepcontrol_wait", "griddepcontrol.wait")},
      {"griddepcontrol_launch_dependents",
       plain("griddepcontrol_launch_dependents", "griddepcontrol.launch_dependents")},
      {"stmatrix_x4", device_only(kStmatrix)},
      {"named_barrier",
       device_only(
           "void lehr_named_barrier(int number, int threads = 128) {\n"
           "  asm volatile(\"bar.sync %0, %1;\" ::\"r\"(number), \"r\"(threads) : \"memory\");\n}\n")},
      {"wgmma_fence", plain("wgmma_fence", "wgmma.fence.sync.aligned")},
      {"wgmma_commit", plain("wgmma_commit", "wgmma.commit_group.sync.aligned")},
      {"wgmma_wait", with_number("wgmma_wait", "wgmma.wait_group.sync.aligned")},
      {"wgmma_keep_f32", keep("wgmma_keep_f32", "float", "f")},
      {"wgmma_keep_s32", keep("wgmma_keep_s32", "int", "r")},
      {"setmaxnreg_inc", with_number("setmaxnreg_inc", "setmaxnreg.inc.sync.aligned.u32")},
      {"setmaxnreg_dec", with_number("setmaxnreg_dec", "setmaxnreg.dec.sync.aligned.u32")},
  };
}

}  // namespace

std::string hopper_snippet(const std::string& name) {
  if (ir::wgmma_columns(name) != 0) return wgmma(name);
  static const std::map<std::string, std::string> snippets = all_snippets();
  const auto found = snippets.find(name);
  return found == snippets.end() ? "" : found->second;
}

std::string hopper_snippet_needed_by(const std::string& name) {
  if (ir::wgmma_columns(name) != 0) return "matrix_descriptor";
  return name.starts_with("tma_") || name == "tensor_map_prefetch" ? "tensor_map" : "";
}

}  // namespace lehr
