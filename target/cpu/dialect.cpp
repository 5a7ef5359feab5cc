#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "ir/uses.h"
#include "target/cpu/prelude_math.h"
#include "target/cpu/prelude_narrow.h"
#include "target/cpu/prelude_shuffle.h"
#include "target/dialect.h"

namespace lehr {
namespace {

// Returns a vector type, its unaligned version for memory, and its operations. {t}: element type, {n}: lanes,
// {b}: bytes.
std::string vector_type(int lanes) {
  return fmt::format(
      "typedef float f32x{0} __attribute__((vector_size({1})));\n"
      "typedef float f32x{0}_u __attribute__((vector_size({1}), aligned(4), may_alias));\n",
      lanes, lanes * 4);
}

std::string splat(int lanes) {
  std::string copies;
  for (int i = 0; i < lanes; ++i) copies += i == 0 ? "x" : ", x";
  return fmt::format("static inline f32x{0} lehr_splat{0}(float x) {{ return f32x{0}{{{1}}}; }}\n", lanes,
                     copies);
}

/// Returns masked loads and stores for AVX2. Loads are in loops over k, where going through memory would take
/// a dozen cycles each; besides, compilers keep vectors in memory throughout a loop if they are taken apart
/// in memory after it. Stores write halves of a vector, then halves of these: AMD's masked store takes as
/// long as twenty such stores (Fog, instruction tables: VMASKMOVPS m,y,y).
std::string avx2_masked(int lanes) {
  std::string numbers;
  for (int i = 0; i < lanes; ++i) numbers += fmt::format("{}{}", i == 0 ? "" : ", ", i);
  const std::string_view halves = lanes == 8 ? R"(  f32x4_half half = {v[0], v[1], v[2], v[3]};
  if (n & 4) {
    *(f32x4_half*)p = half;
    half = f32x4_half{v[4], v[5], v[6], v[7]};
    p += 4;
  }
)"
                                             : "  f32x4_half half = v;\n";
  return fmt::format(
      R"(#elif defined(__AVX2__)
static inline f32x{0} lehr_load{0}_n(const float* p, long n) {{
  typedef int s32x{0} __attribute__((vector_size({1})));
  if (n >= {0}) return *(const f32x{0}_u*)p;
  return __builtin_ia32_maskloadps{2}((const f32x{0}*)p, s32x{0}{{{3}}} < (int)n);
}}
static inline void lehr_store{0}_n(float* p, f32x{0} v, long n) {{
  typedef float f32x4_half __attribute__((vector_size(16), aligned(4), may_alias));
  typedef long s64x2 __attribute__((vector_size(16)));
  typedef long two_floats __attribute__((aligned(4), may_alias));
  if (n >= {0}) {{
    *(f32x{0}_u*)p = v;
    return;
  }}
  if (n <= 0) return;
{4}  if (n & 2) {{
    *(two_floats*)p = ((s64x2)half)[0];
    half = f32x4_half{{half[2], half[3], half[2], half[3]}};
    p += 2;
  }}
  if (n & 1) *p = half[0];
}}
)",
      lanes, lanes * 4, lanes == 8 ? "256" : "", numbers, halves);
}

/// Returns the casts for masked accesses. For vectors of 4 and 8, clang's builtins take pointers to vectors,
/// GCC's take pointers to numbers.
std::string masked_pointers(int lanes) {
  if (lanes == 16) return "";
  return fmt::format(R"(#ifdef __clang__
typedef f32x{0} lehr_masked{0};
#else
typedef float lehr_masked{0};
#endif
)",
                     lanes);
}

// Accesses the leading `n` lanes only. All other lanes read as zero, and their memory is not touched. Uses
// GCC's builtins for masks, because vector extensions cannot express a mask (names: GCC manual, x86 built-in
// functions; clang has the same). The mask is computed without a branch, so that the compiler moves it out of
// the loop over k.
std::string masked(int lanes) {
  const int bits = lanes * 32;
  const std::string mask_type = lanes == 16 ? "unsigned short" : "unsigned char";
  const std::string condition = lanes == 16 ? "defined(__AVX512F__)" : "defined(__AVX512VL__)";
  const std::string avx2 = lanes == 16 ? "" : avx2_masked(lanes);
  const std::string pointee = lanes == 16 ? "float" : fmt::format("lehr_masked{}", lanes);
  return fmt::format(
      R"(#if {2}
{5}static inline {3} lehr_mask{0}(long n) {{
  const long lanes = n < 0 ? 0 : n > {0} ? {0} : n;
  return ({3})((1u << lanes) - 1);
}}
static inline f32x{0} lehr_load{0}_n(const float* p, long n) {{
  return __builtin_ia32_loadups{1}_mask((const {6}*)p, f32x{0}{{}}, lehr_mask{0}(n));
}}
static inline void lehr_store{0}_n(float* p, f32x{0} v, long n) {{
  __builtin_ia32_storeups{1}_mask(({6}*)p, v, lehr_mask{0}(n));
}}
{4}#else
static inline f32x{0} lehr_load{0}_n(const float* p, long n) {{
  if (n >= {0}) return *(const f32x{0}_u*)p;
  float lanes[{0}] = {{}};
  for (long i = 0; i < n; ++i) lanes[i] = p[i];
  return *(const f32x{0}_u*)lanes;
}}
static inline void lehr_store{0}_n(float* p, f32x{0} v, long n) {{
  if (n >= {0}) {{
    *(f32x{0}_u*)p = v;
    return;
  }}
  float lanes[{0}];
  *(f32x{0}_u*)lanes = v;
  for (long i = 0; i < n; ++i) p[i] = lanes[i];
}}
#endif
)",
      lanes, bits, condition, mask_type, avx2, masked_pointers(lanes), pointee);
}

/// Returns a reduction over the lanes: "reduce" adds; "max_of" and "min_of" first replace NaN. Halves are
/// combined in registers until one lane is left: in memory, each step would wait for the previous one.
std::string reduce(std::string_view function, int lanes) {
  const bool adds = function == "reduce", largest = function == "max_of";
  std::string steps;
  if (!adds)
    steps = fmt::format("  v = v == v ? v : f32x{}{{}} {} __builtin_inff();\n", lanes, largest ? '-' : '+');
  const std::string step = adds      ? "  v += LEHR_LANES{0}(v, {1});\n"
                           : largest ? "  v = LEHR_MAX(v, LEHR_LANES{0}(v, {1}));\n"
                                     : "  v = LEHR_MIN(v, LEHR_LANES{0}(v, {1}));\n";
  for (int width = lanes / 2; width > 0; width /= 2) {
    std::string from;
    for (int i = 0; i < lanes; ++i) from += fmt::format("{}{}", i == 0 ? "" : ", ", (i + width) % lanes);
    steps += fmt::format(fmt::runtime(step), lanes, from);
  }
  return fmt::format(
      R"(#ifdef __clang__
#define LEHR_LANES{0}(v, ...) __builtin_shufflevector(v, v, __VA_ARGS__)
#else
typedef int s32x{0} __attribute__((vector_size({1})));
#define LEHR_LANES{0}(v, ...) __builtin_shuffle(v, s32x{0}{{__VA_ARGS__}})
#endif
static inline float lehr_{3}{0}(f32x{0} v) {{
{2}  return v[0];
}}
)",
      lanes, lanes * 4, steps, function);
}

/// Streams a vector in pieces as long as a register. A piece that is aligned is written past the caches as a
/// whole.
std::string stream(int lanes) {
  if (lanes % 4 != 0)
    return fmt::format("static inline void lehr_stream{0}(float* p, f32x{0} v) {{ *(f32x{0}_u*)p = v; }}\n",
                       lanes);
  const auto part = [&](int bytes) {
    return fmt::format("  typedef float part __attribute__((vector_size({}), may_alias));\n",
                       std::min(bytes, lanes * 4));
  };
  return fmt::format(R"(static inline void lehr_stream{0}(float* p, f32x{0} v) {{
#if defined(__SSE2__)
#if defined(__AVX512F__)
{1}#elif defined(__AVX__)
{2}#else
{3}#endif
  if ((unsigned long)p % sizeof(part) == 0) {{
    part parts[sizeof v / sizeof(part)];
    __builtin_memcpy(parts, &v, sizeof v);
    for (unsigned long i = 0; i < sizeof v / sizeof(part); ++i)
#if defined(__AVX__)
      __asm__("vmovntps %1, %0" : "=m"(((part*)p)[i]) : "v"(parts[i]));
#else
      __asm__("movntps %1, %0" : "=m"(((part*)p)[i]) : "x"(parts[i]));
#endif
    return;
  }}
#endif
  *(f32x{0}_u*)p = v;
}}
)",
                     lanes, part(64), part(32), part(16));
}

/// Streamed data may otherwise become visible later than ordinary stores that follow.
constexpr std::string_view kStoresFence = R"(static inline void lehr_stores_fence() {
#if defined(__SSE2__)
  __asm__ volatile("sfence" ::: "memory");
#endif
}
)";

// Returns the minimum and the maximum of each lane, as LEHR_MIN and LEHR_MAX do: if one operand is NaN, the
// result is the second one.
std::string minmax(int lanes) {
  return fmt::format(
      "static inline f32x{0} lehr_min{0}(f32x{0} a, f32x{0} b) {{ return a < b ? a : b; }}\n"
      "static inline f32x{0} lehr_max{0}(f32x{0} a, f32x{0} b) {{ return a > b ? a : b; }}\n",
      lanes);
}

// Returns an empty statement that the compiler believes to change the vector. It therefore keeps the vector
// in the register, and does not load it again.
std::string hold(int lanes) {
  return fmt::format(
      R"(static inline void lehr_hold_{0}(void* vector) {{
#if defined(__AVX512F__)
  __asm__("" : "+v"(*(f32x{0}*)vector));
#elif defined(__AVX2__)
  __asm__("" : "+x"(*(f32x{0}*)vector));
#else
  (void)vector;
#endif
}}
)",
      lanes);
}

std::string snippet(const std::string& name) {
  if (name == "base") {
    return "#define LEHR_MIN(a, b) ((a) < (b) ? (a) : (b))\n#define LEHR_MAX(a, b) ((a) > (b) ? (a) : (b))\n";
  }
  if (std::string text = narrow_snippet(name); !text.empty()) return text;
  if (name == "prefetch")
    return "static inline void lehr_prefetch(const void* p) { __builtin_prefetch(p); }\n";
  const auto lanes_after = [&](std::string_view prefix) {
    return static_cast<int>(parse_int(std::string_view(name).substr(prefix.size())).value_or(0));
  };
  if (name.starts_with("vector")) return vector_type(lanes_after("vector"));
  if (name.starts_with("splat")) return splat(lanes_after("splat"));
  if (name.starts_with("minmax")) return minmax(lanes_after("minmax"));
  if (name.starts_with("masked")) return masked(lanes_after("masked"));
  if (name.starts_with("hold_")) return hold(lanes_after("hold_"));
  for (const std::string_view function : {"reduce", "max_of", "min_of"})
    if (name.starts_with(function)) return reduce(function, lanes_after(function));
  if (name == "stores_fence") return std::string(kStoresFence);
  if (name.starts_with("stream")) return stream(lanes_after("stream"));
  if (std::string text = math_snippet(name); !text.empty()) return text;
  if (std::string text = shuffle_snippet(name); !text.empty()) return text;
  if (!math_snippets_needed_by(name).empty()) return "";  // defined together with the function that it calls
  CHECK(false, "no C++ snippet '{}'", name);
  return "";
}

std::vector<std::string> snippets_needed_by(const std::string& name) {
  std::vector<std::string> needed = math_snippets_needed_by(name);
  for (std::string& each : shuffle_snippets_needed_by(name)) needed.push_back(std::move(each));
  for (std::string& each : narrow_snippets_needed_by(name)) needed.push_back(std::move(each));
  return needed;
}

std::string type_name(DType type, int lanes) {
  return lanes == 1 ? scalar_name(type) : fmt::format("{}x{}", name_of(type), lanes);
}

std::string_view launch_index(ir::LoopKind kind) {
  CHECK(kind == ir::LoopKind::kParallel, "not a loop that a launch binds");
  return "task";
}

std::string entry_text(const ir::Kernel& kernel, const ir::Launch&, const EntryText& entry) {
  const ir::Uses uses = ir::uses_of(kernel, entry.block);
  std::string text =
      fmt::format("extern \"C\" void {}(void* const* params, void* scratch, long task) {{\n", entry.name);
  for (std::size_t i = 0; i < kernel.params.size(); ++i) {
    if (!uses.buffers[static_cast<std::size_t>(kernel.params[i].buffer)]) continue;
    const ir::Buffer& buffer = kernel.buffer(kernel.params[i].buffer);
    const ir::Direction direction = kernel.params[i].direction;
    const bool written = direction == entry.filled || direction == ir::Direction::kWorkspace;
    text += fmt::format("  {0}{1}* __restrict {2} = ({0}{1}*)params[{3}];\n", written ? "" : "const ",
                        scalar_name(buffer.type), buffer.name, i);
    if (kernel.params[i].is_number)
      text += fmt::format("  const {} {} = *{};\n", scalar_name(buffer.type),
                          number_name(kernel, kernel.params[i]), buffer.name);
  }
  if (kernel.rows && uses.vars[static_cast<std::size_t>(kernel.rows->var)])
    text += fmt::format("  const long {} = *(const long*)params[{}];\n", kernel.name_of(kernel.rows->var),
                        kernel.params.size());
  return text + "  (void)scratch, (void)task;\n" + entry.body + "}\n";
}

std::string launch_text(const ir::Launch& launch, std::int64_t scratch_bytes) {
  const std::string steps = launch.steps() > 1 ? fmt::format("// steps: {}\n", launch.steps()) : "";
  return fmt::format("// tasks: {}\n{}// scratch bytes of each: {}\n", launch.work_items, steps,
                     scratch_bytes);
}

}  // namespace

const Dialect kCpuDialect = {
    .index_type = "long",
    .restrict_word = "__restrict",
    .unroll_prefix = "#pragma GCC unroll ",
    .unroll_counted = true,
    .no_unroll = "#pragma GCC unroll 1",
    .vector_in_memory = "*({}{}_u*)({})",
    .scalars_in_lanes = true,
    .snippet_for = &snippet_for,
    .type_name = &type_name,
    .launch_index = &launch_index,
    .entry = &entry_text,
    .launch_text = &launch_text,
    .snippet = &snippet,
    .snippets_needed_by = &snippets_needed_by,
};

}  // namespace lehr
