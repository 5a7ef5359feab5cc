#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "target/cuda/prelude_hopper.h"
#include "target/cuda/prelude_tensor.h"
#include "target/dialect.h"

namespace lehr {
namespace {

/// Returns a function whose body is inline PTX. tests/emulator compiles the text for the CPU and has its own
/// body.
std::string device_only(const std::string& function) {
  return "#ifndef LEHR_EMULATOR\n" + function + "#endif\n";
}

// Returns the function of an asynchronous copy (PTX ISA 9.0, "Data Movement and Conversion Instructions:
// cp.async"). .ca caches at all levels and copies 4, 8 or 16 bytes; .cg caches in L2 only and copies 16. If
// the optional source size is smaller, the rest of the destination becomes zero.
std::string cp_async(int bytes) {
  return device_only(fmt::format(
      R"(__device__ __forceinline__ void lehr_cp_async_{0}(void* shared, const void* global) {{
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.{1}.shared.global [%0], [%1], {0};" ::"r"(address), "l"(global) : "memory");
}}
__device__ __forceinline__ void lehr_cp_async_{0}(void* shared, const void* global, int source_bytes) {{
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  asm volatile("cp.async.{1}.shared.global [%0], [%1], {0}, %2;" ::"r"(address), "l"(global), "r"(source_bytes)
               : "memory");
}}
)",
      bytes, bytes == 16 ? "cg" : "ca"));
}

// Returns the function of a sum over lanes (PTX ISA 9.0, "Data Movement and Conversion Instructions:
// shfl.sync", mode .bfly). After the step with mask m, all lanes in a group of 2 m hold the same sum.
std::string warp_sum(std::string_view name, std::string_view type) {
  return device_only(fmt::format(R"(__device__ __forceinline__ void lehr_{}({}* value, int width) {{
#pragma unroll
  for (int mask = width / 2; mask > 0; mask /= 2) *value += __shfl_xor_sync(0xffffffffu, *value, mask);
}}
)",
                                 name, type));
}

// Returns the function that makes only one step of that sum: lanes exchange their values.
std::string warp_exchange() {
  return device_only(R"(__device__ __forceinline__ void lehr_warp_exchange_f32(float* value, int width) {
  *value = __shfl_xor_sync(0xffffffffu, *value, width / 2);
}
)");
}

std::string cuda_masked(int lanes) {
  std::string load;
  std::string store;
  const char* fields[] = {"x", "y", "z", "w"};
  for (int i = 0; i < lanes; ++i) {
    load += fmt::format("  if (n > {0}) v.{1} = p[{0}];\n", i, fields[i]);
    store += fmt::format("  if (n > {0}) p[{0}] = v.{1};\n", i, fields[i]);
  }
  return fmt::format(
      "__device__ __forceinline__ float{0} lehr_load{0}_n(const float* p, int n) {{\n  float{0} v = "
      "{{}};\n{1}  return "
      "v;\n}}\n__device__ __forceinline__ void lehr_store{0}_n(float* p, float{0} v, int n) {{\n{2}}}\n",
      lanes, load, store);
}

/// The functions of one value (ir::UnaryOp). For all finite x: expf, tanhf and erff are within 2 units in the
/// last place (CUDA C++ Programming Guide 13.0, "Mathematical Functions"), and division adds 2. NaN gives
/// NaN.
constexpr std::pair<std::string_view, std::string_view> kFunctions[] = {
    {"tanh", "tanhf(x)"},
    {"sigmoid", "__fdividef(1.0f, 1.0f + expf(-x))"},
    {"silu", "__fdividef(x, 1.0f + expf(-x))"},
    {"gelu_tanh", "x * 0.5f * (1.0f + tanhf(x * (0.797884561f + x * x * 0.0356774081f)))"},
    {"gelu_erf", "x * 0.5f * (1.0f + erff(x * 0.707106781f))"},
    {"exp_full", "expf(x)"},
    {"log", "logf(x)"},
    {"sqrt", "sqrtf(x)"},
    {"rsqrt", "1.0f / sqrtf(x)"},
    {"abs", "fabsf(x)"},
};

/// The same functions for f64.
constexpr std::pair<std::string_view, std::string_view> kFunctionsOfF64[] = {
    {"tanh", "tanh(x)"},
    {"sigmoid", "1.0 / (1.0 + exp(-x))"},
    {"silu", "x / (1.0 + exp(-x))"},
    {"gelu_tanh", "0.5 * x * (1.0 + tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)))"},
    {"gelu_erf", "0.5 * x * erfc(-x * 0.70710678118654752)"},
    {"exp_full", "exp(x)"},
    {"log", "log(x)"},
    {"sqrt", "sqrt(x)"},
    {"rsqrt", "1.0 / sqrt(x)"},
    {"abs", "fabs(x)"},
};

std::string snippet(const std::string& name) {
  if (name == "base") {
    return "#define LEHR_MIN(a, b) ((a) < (b) ? (a) : (b))\n#define LEHR_MAX(a, b) ((a) > (b) ? (a) : (b))\n";
  }
  if (name == "prefetch") {
    return device_only(
        "__device__ __forceinline__ void lehr_prefetch(const void* p) {\n"
        "  asm volatile(\"prefetch.global.L2 [%0];\" ::\"l\"(p));\n}\n");
  }
  if (name == "cp_async_4") return cp_async(4);
  if (name == "cp_async_8") return cp_async(8);
  if (name == "cp_async_16") return cp_async(16);
  if (name == "cp_async_commit") {
    return device_only(
        "__device__ __forceinline__ void lehr_cp_async_commit() {\n"
        "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n}\n");
  }
  if (name == "cp_async_wait") {
    // A template, because the number of groups must be an immediate.
    return device_only(
        "template <int kPending>\n__device__ __forceinline__ void lehr_cp_async_wait() {\n"
        "  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(kPending) : \"memory\");\n}\n");
  }
  // Makes all writes of this thread visible to every thread of the device that sees its later writes, and
  // vice versa (CUDA C++ Programming Guide 13.0, "Memory Fence Functions").
  if (name == "device_fence")
    return "__device__ __forceinline__ void lehr_device_fence() { __threadfence(); }\n";
  // The counter increases up to `last`, and from there wraps around to 0 (CUDA C++ Programming Guide 13.0,
  // "Atomic Functions: atomicInc").
  if (name == "atomic_inc_u32") {
    return "__device__ __forceinline__ void lehr_atomic_inc_u32(unsigned* old, unsigned* counter, int last) "
           "{\n"
           "  *old = atomicInc(counter, static_cast<unsigned>(last));\n}\n";
  }
  if (name == "warp_sum_f32") return warp_sum(name, "float");
  if (name == "warp_exchange_f32") return warp_exchange();
  if (name == "masked2") return cuda_masked(2);
  if (name == "masked4") return cuda_masked(4);
  if (name == "splat2")
    return "__device__ __forceinline__ float2 lehr_splat2(float x) { return make_float2(x, x); }\n";
  if (name == "splat4") {
    return "__device__ __forceinline__ float4 lehr_splat4(float x) { return make_float4(x, x, x, x); }\n";
  }
  if (name.starts_with("vector")) return "";  // float2 and float4 are built in
  if (std::string text = tensor_snippet(name); !text.empty()) return text;
  if (std::string text = hopper_snippet(name); !text.empty()) return text;
  for (const auto& [function, text] : kFunctions)
    if (name == fmt::format("unary_{}1", function))
      return fmt::format("__device__ __forceinline__ float lehr_{}(float x) {{ return {}; }}\n", function,
                         text);
  for (const auto& [function, text] : kFunctionsOfF64)
    if (name == fmt::format("unary_{}_f64", function))
      return fmt::format("__device__ __forceinline__ double lehr_{}_f64(double x) {{ return {}; }}\n",
                         function, text);
  CHECK(false, "no CUDA snippet '{}'", name);
  return "";
}

std::vector<std::string> snippets_needed_by(const std::string& name) {
  std::vector<std::string> needed;
  for (std::string each : {tensor_snippet_needed_by(name), hopper_snippet_needed_by(name)})
    if (!each.empty()) needed.push_back(std::move(each));
  return needed;
}

/// Returns the C type. Vectors are only moved, so that all types but f32 share the unsigned vector of the
/// same size: "uint4" for 8 elements of bf16.
std::string type_name(DType type, int lanes) {
  if (lanes == 1) return scalar_name(type);
  const int bytes = lanes * size_of(type);
  CHECK(bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16, "CUDA moves no vector {} x {}", name_of(type),
        lanes);
  if (type == DType::kF32) return fmt::format("float{}", lanes);
  return bytes == 2 ? "unsigned short" : bytes == 4 ? "unsigned" : fmt::format("uint{}", bytes / 4);
}

std::string_view launch_index(ir::LoopKind kind) {
  constexpr std::array<std::string_view, 6> kIndices = {"blockIdx.x",  "blockIdx.y",  "blockIdx.z",
                                                        "threadIdx.x", "threadIdx.y", "threadIdx.z"};
  CHECK(kind >= ir::LoopKind::kBlockX, "not a loop that a launch binds");
  return kIndices[static_cast<std::size_t>(kind) - static_cast<std::size_t>(ir::LoopKind::kBlockX)];
}

std::string entry_text(const ir::Kernel& kernel, const ir::Launch& launch, const EntryText& entry) {
  const std::int64_t threads = launch.block[0] * launch.block[1] * launch.block[2];
  std::string params;
  for (const ir::Param& param : kernel.params) {
    const ir::Buffer& buffer = kernel.buffer(param.buffer);
    params += params.empty() ? "" : ", ";
    if (param.map) {
      params += fmt::format("const __grid_constant__ LehrTensorMap {}", buffer.name);
      continue;
    }
    // Writes of other blocks to a workspace must be visible after a fence. "restrict" would let the compiler
    // move the access across the fence.
    const char* alone = param.direction == ir::Direction::kWorkspace ? "" : "__restrict__ ";
    params += fmt::format("{}{}* {}{}", param.direction == ir::Direction::kIn ? "const " : "",
                          scalar_name(buffer.type), alone, buffer.name);
  }
  const std::string bounds = kernel.min_blocks_per_core > 0
                                 ? fmt::format("{}, {}", threads, kernel.min_blocks_per_core)
                                 : fmt::format("{}", threads);
  std::int64_t alignment = 16;  // one float4, one 16-byte cp.async
  for (const ir::Buffer& buffer : kernel.buffers)
    if (buffer.scope == ir::Scope::kShared) alignment = std::max(alignment, buffer.alignment);
  const std::string shared =
      launch.shared_bytes > 0
          ? fmt::format("  extern __shared__ __align__({}) unsigned char lehr_shared[];\n", alignment)
          : "";
  // Compiled into the kernel, so that an ordinary launch has clusters (PTX ISA 9.0, "Cluster Dimension
  // Directives").
  const std::string cluster =
      kernel.cluster > 1 ? fmt::format("__cluster_dims__({}, 1, 1) ", kernel.cluster) : "";
  return fmt::format("extern \"C\" __global__ void {}__launch_bounds__({}) {}({}) {{\n{}{}}}\n", cluster,
                     bounds, entry.name, params, shared, entry.body);
}

std::string launch_text(const ir::Launch& launch, std::int64_t) {
  const auto triple = [](const std::array<std::int64_t, 3>& v) {
    return fmt::format("{} x {} x {}", v[0], v[1], v[2]);
  };
  return fmt::format("// grid: {}\n// blocks of a cluster: {}\n// block: {}\n// shared bytes: {}\n{}",
                     triple(launch.grid), launch.cluster, triple(launch.block), launch.shared_bytes,
                     launch.programmatic ? "// programmatic dependent launch\n" : "");
}

}  // namespace

const Dialect kCudaDialect = {
    .index_type = "int",
    .restrict_word = "__restrict__",
    .unroll_prefix = "#pragma unroll",
    .no_unroll = "#pragma unroll 1",
    .block_barrier = "__syncthreads();",
    .warp_barrier = "__syncwarp();",
    .cluster_barrier = "lehr_cluster_barrier();",
    .cluster_barrier_relaxed = "lehr_cluster_barrier_relaxed();",
    .uniform = "__shfl_sync(0xFFFFFFFF, {}, 0)",
    .register_align = "alignas(16) ",
    .vector_in_memory = "*reinterpret_cast<{}{}*>({})",
    .folds_offsets = true,
    .type_name = &type_name,
    .launch_index = &launch_index,
    .entry = &entry_text,
    .launch_text = &launch_text,
    .snippet = &snippet,
    .snippets_needed_by = &snippets_needed_by,
};

}  // namespace lehr
