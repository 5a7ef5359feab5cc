#include "target/cpu/prelude_narrow.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "base/text.h"
#include "target/dialect.h"

namespace lehr {
namespace {

/// The end of a name: "bf16x32".
struct VectorName {
  DType type = DType::kF32;
  int lanes = 1;
  std::string text() const { return fmt::format("{}x{}", name_of(type), lanes); }
};
std::optional<VectorName> vector_named(std::string_view text) {
  const std::size_t x = text.find('x');
  if (x == std::string_view::npos) return std::nullopt;
  const auto type = parse_dtype(text.substr(0, x));
  const auto lanes = parse_int(text.substr(x + 1));
  if (!type || !lanes) return std::nullopt;
  return VectorName{*type, static_cast<int>(*lanes)};
}
/// Returns the vector whose name follows `stem` in `name`.
std::optional<VectorName> behind(std::string_view stem, std::string_view name) {
  return name.starts_with(stem) ? vector_named(name.substr(stem.size())) : std::nullopt;
}

std::string repeated(std::string_view what, int times) {
  std::string list(what);
  for (int i = 1; i < times; ++i) list.append(", ").append(what);
  return list;
}

std::string vector_type(const VectorName& v) {
  const int size = size_of(v.type);
  return fmt::format(
      "typedef {0} {1} __attribute__((vector_size({2})));\n"
      "typedef {0} {1}_u __attribute__((vector_size({2}), aligned({3}), may_alias));\n",
      scalar_name(v.type), v.text(), v.lanes * size, size);
}

std::string splat(const VectorName& v) {
  return fmt::format("static inline {0} lehr_splat_{0}({1} x) {{ return {0}{{{2}}}; }}\n", v.text(),
                     scalar_name(v.type), repeated("x", v.lanes));
}

/// Returns instructions that come before the general text, for processors with masks for bytes or words; ""
/// for elements of other sizes.
std::string masked_instructions(const VectorName& v) {
  const int bytes = v.lanes * size_of(v.type);
  if (size_of(v.type) > 2 || bytes < 16 || v.lanes > 32) return "";
  return fmt::format(R"(#if defined(__AVX512BW__) && defined(__AVX512VL__)
typedef {2} lehr_lanes_{0} __attribute__((vector_size({4})));
#ifdef __clang__
typedef lehr_lanes_{0} lehr_masked_{0};
#else
typedef {2} lehr_masked_{0};
#endif
static inline {5} lehr_mask_{0}(long n) {{
  return ({5})((1ull << (n < 0 ? 0 : n > {6} ? {6} : n)) - 1);
}}
static inline {0} lehr_load_{0}_n(const {1}* p, long n) {{
  return ({0})__builtin_ia32_loaddqu{3}_mask((const lehr_masked_{0}*)p, lehr_lanes_{0}{{}}, lehr_mask_{0}(n));
}}
static inline void lehr_store_{0}_n({1}* p, {0} v, long n) {{
  __builtin_ia32_storedqu{3}_mask((lehr_masked_{0}*)p, (lehr_lanes_{0})v, lehr_mask_{0}(n));
}}
#else
)",
                     v.text(), scalar_name(v.type), size_of(v.type) == 1 ? "char" : "short",
                     fmt::format("{}{}", size_of(v.type) == 1 ? "qi" : "hi", 8 * bytes), bytes,
                     v.lanes == 32   ? "unsigned"
                     : v.lanes == 16 ? "unsigned short"
                                     : "unsigned char",
                     v.lanes);
}

std::string masked(const VectorName& v) {
  const std::string instructions = masked_instructions(v);
  return instructions + fmt::format(R"(static inline {0} lehr_load_{0}_n(const {1}* p, long n) {{
  if (n >= {2}) return *(const {0}_u*)p;
  {1} lanes[{2}] = {{}};
  for (long i = 0; i < n; ++i) lanes[i] = p[i];
  return *(const {0}_u*)lanes;
}}
static inline void lehr_store_{0}_n({1}* p, {0} v, long n) {{
  if (n >= {2}) {{
    *({0}_u*)p = v;
    return;
  }}
  {1} lanes[{2}];
  *({0}_u*)lanes = v;
  for (long i = 0; i < n; ++i) p[i] = lanes[i];
}}
{3})",
                                    v.text(), scalar_name(v.type), v.lanes,
                                    instructions.empty() ? "" : "#endif\n");
}

// Returns an empty statement that the compiler believes to change the value, so that it cannot fuse later
// operations with the one that computed the value.
std::string rounded(int lanes) {
  const std::string_view macro = lanes == 16 ? "__AVX512F__" : lanes == 8 ? "__AVX__" : "__SSE2__";
  return fmt::format(R"(static inline f32x{0} lehr_rounded(f32x{0} x) {{
#if defined({1})
  __asm__("" : "+{2}"(x));
{3}#else
  __asm__("" : "+m"(x));
#endif
  return x;
}}
)",
                     lanes, macro, lanes == 16 ? "v" : "x",
                     lanes == 4 ? "#elif defined(__aarch64__)\n  __asm__(\"\" : \"+w\"(x));\n" : "");
}

/// A cast of vectors, or of a scalar of bf16: "bf16_from_f32x16", "f32_from_bf16".
struct CastName {
  DType to = DType::kF32, from = DType::kF32;
  int lanes = 1;
};
std::optional<CastName> cast_named(std::string_view name) {
  constexpr std::string_view kFrom = "_from_";
  const std::size_t middle = name.find(kFrom);
  if (middle == std::string_view::npos) return std::nullopt;
  const auto to = parse_dtype(name.substr(0, middle));
  const std::string_view rest = name.substr(middle + kFrom.size());
  const auto scalar = parse_dtype(rest);
  const auto from = scalar ? VectorName{*scalar, 1} : vector_named(rest).value_or(VectorName{});
  if (!to || from.lanes < 1) return std::nullopt;
  return CastName{*to, from.type, from.lanes};
}

bool is_byte(DType type) {
  return is_integer(type) && size_of(type) == 1;
}

/// Comes before the general text, if the compiler has the macro. g++ 12 takes vectors of bytes apart element
/// by element.
std::string guarded(std::string_view macro, const std::string& text) {
  return fmt::format("#if defined({}) && !defined(__clang__)\n{}#else\n", macro, text);
}

/// Widens bytes to s32 or f32.
std::string widened_bytes(const CastName& c, const std::string& words, const std::string& to) {
  const bool full = c.lanes == 16;
  // Goes through an integer: in memory, reading a register of 16 bytes would wait for the store of fewer
  // bytes.
  const std::string number = c.lanes == 8 ? "long long" : "int";
  const std::string wide =
      full ? "  const bytes wide = (bytes)x;\n"
           : fmt::format(
                 "  typedef {0} numbers __attribute__((vector_size(16)));\n  {0} number;\n"
                 "  __builtin_memcpy(&number, &x, sizeof x);\n"
                 "  const bytes wide = (bytes)numbers{{number}};\n",
                 number);
  return guarded(
      full           ? "__AVX512F__"
      : c.lanes == 8 ? "__AVX2__"
                     : "__AVX__",
      fmt::format("  typedef char bytes __attribute__((vector_size(16)));\n{0}  {1} whole;\n"
                  "  __asm__(\"{2} %1, %0\" : \"={3}\"(whole) : \"{3}\"(wide));\n"
                  "  return __builtin_convertvector(whole, {4});\n",
                  wide, words, c.from == DType::kU8 ? "vpmovzxbd" : "vpmovsxbd", full ? "v" : "x", to));
}

/// Narrows s32 or f32 to bytes that hold them.
std::string narrowed_words(const CastName& c, const std::string& words, const std::string& to) {
  const std::string whole = fmt::format("  const {0} whole = __builtin_convertvector(x, {0});\n", words);
  if (c.lanes == 16)
    return guarded("__AVX512F__",
                   fmt::format("{}  {} low;\n  __asm__(\"vpmovdb %1, %0\" : \"=v\"(low) : \"v\"(whole));\n"
                               "  return low;\n",
                               whole, to));
  const std::string first = "0, 4, 8, 12, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1, -1";
  const bool pair = c.lanes == 8;
  const std::string packed =
      pair ? fmt::format(
                 "  const {0} halves = {{0, 4, 0, 4, 0, 4, 0, 4}};\n  const auto packed = "
                 "__builtin_ia32_permvarsi256(({0})__builtin_ia32_pshufb256((bytes)whole, first), halves);\n",
                 words)
           : "  const auto packed = __builtin_ia32_pshufb128((bytes)whole, first);\n";
  return guarded(pair ? "__AVX2__" : "__SSSE3__",
                 fmt::format("{}  typedef char bytes __attribute__((vector_size({})));\n"
                             "  const bytes first = {{{}{}}};\n{}  {} low;\n"
                             "  __builtin_memcpy(&low, &packed, sizeof low);\n  return low;\n",
                             whole, 4 * c.lanes, first, pair ? ", " + first : "", packed, to));
}

/// Returns the instructions of casts between bytes and words; "" if there is only the general text.
std::string byte_instructions(const CastName& c) {
  const auto is_word = [](DType type) { return type == DType::kF32 || type == DType::kS32; };
  const std::string words = VectorName{DType::kS32, c.lanes}.text(), to = VectorName{c.to, c.lanes}.text();
  if (is_byte(c.from) && is_word(c.to)) return widened_bytes(c, words, to);
  if (is_byte(c.to) && is_word(c.from)) return narrowed_words(c, words, to);
  return "";
}

/// Converts to bf16: comes before the general text if there is an instruction.
std::string rounding_instruction(const CastName& c, const std::string& to) {
  if (c.lanes < 8) return "";
  return fmt::format(
      "#if defined(__AVX512BF16__) && defined(__AVX512VL__)\n  {} nearest;\n"
      "  __asm__(\"vcvtneps2bf16 %1, %0\" : \"=v\"(nearest) : \"v\"(x));\n  return nearest;\n#endif\n",
      to);
}

// Returns a cast. A cast to bf16 adds so that the carry rounds to nearest even. NaN stays NaN. Denormal
// numbers become zeros, as with the instruction.
std::string cast(const CastName& c, const std::string& name) {
  const bool vector = c.lanes > 1;
  const auto type = [&](DType of) {
    return vector ? VectorName{of, c.lanes}.text() : std::string(scalar_name(of));
  };
  const auto converted = [&](std::string_view value, DType to) {
    return vector ? fmt::format("__builtin_convertvector({}, {})", value, type(to))
                  : fmt::format("({})({})", type(to), value);
  };
  std::string body;
  if (c.from == DType::kBF16) {
    CHECK(c.to == DType::kF32, "no C++ cast '{}'", name);
    body = vector ? fmt::format("  return ({})({} << 16);\n", type(c.to), converted("x", DType::kU32))
                  : "  const unsigned bits = (unsigned)x << 16;\n  float value;\n"
                    "  __builtin_memcpy(&value, &bits, 4);\n  return value;\n";
  } else if (c.to == DType::kBF16) {
    CHECK(c.from == DType::kF32, "no C++ cast '{}'", name);
    body = vector ? rounding_instruction(c, type(DType::kBF16)) +
                        fmt::format("  const {0} bits = ({0})x;\n", type(DType::kU32))
                  : "  unsigned bits;\n  __builtin_memcpy(&bits, &x, 4);\n";
    body += fmt::format(
        "  const {0} even = bits + 0x7fffu + (bits >> 16 & 1u), quiet = bits | 0x400000u;\n"
        "  const {0} ordinary = x == x ? even : quiet;\n"
        "  const {0} chosen = (bits & 0x7f800000u) == 0 ? bits & 0x80000000u : ordinary;\n  return {1};\n",
        type(DType::kU32), converted("chosen >> 16", DType::kBF16));
  } else {  // to 8 bits: through 32 bits, for which there are instructions
    const bool narrows = c.from == DType::kF32 && size_of(c.to) < 4;
    body = fmt::format("  return {};\n",
                       converted(narrows ? converted("x", DType::kS32) : std::string("x"), c.to));
    if (const std::string bytes = vector ? byte_instructions(c) : std::string(); !bytes.empty())
      body = bytes + body + "#endif\n";
  }
  const std::string function = vector ? name : fmt::format("{}_from_{}", name_of(c.to), name_of(c.from));
  return fmt::format("static inline {} lehr_{}({} x) {{\n{}}}\n", type(c.to), function, type(c.from), body);
}

/// A sum of products of neighbours.
struct Dot {
  DType a, b, sums;
  int group = 1;
  std::string_view macro;  ///< defined by compilers that have the instruction with vectors of 512 bits
  std::string_view with;   ///< the computation if the macro is defined
  std::string_view without;
};

// {0}: vector of sums, {1}: lanes; `word` is the group of a, `all` has it in all lanes.
constexpr std::string_view kBf16 = R"(  __asm__("vdpbf16ps %2, %1, %0" : "+v"(c) : "v"(all), "v"(b));
  return c;
)";
constexpr std::string_view kBf16Plain = R"(  const u32 pairs = (u32)b;
  for (int i = 0; i < {1}; ++i)
    for (int high = 1; high >= 0; --high) c[i] = lehr_bf16_step(c[i], (unsigned)word, pairs[i], high);
  return c;
)";
constexpr std::string_view kShifts = R"(  const u32 bits = (u32)b;
  c += ((const float*)a)[0] * ({0})(bits << 16);
  c += ((const float*)a)[1] * ({0})(bits & 0xffff0000u);
  return c;
)";
constexpr std::string_view kBytes = R"(  __asm__("vpdpbusd %2, %1, %0" : "+v"(c) : "v"(all), "v"(b));
  return c;
)";
constexpr std::string_view kBytesPlain = R"(  const u32 bits = (u32)b;
  c += (word & 255) * (({0})(bits << 24) >> 24);
  c += (word >> 8 & 255) * (({0})(bits << 16) >> 24);
  c += (word >> 16 & 255) * (({0})(bits << 8) >> 24);
  c += (word >> 24 & 255) * (({0})bits >> 24);
  return c;
)";
constexpr std::string_view kWords = R"(  {0} sums;
  __asm__("vpmaddwd %2, %1, %0" : "=v"(sums) : "v"(all), "v"(b));
  return c + sums;
)";
constexpr std::string_view kWordsPlain = R"(  const u32 bits = (u32)b;
  c += (word << 16 >> 16) * (({0})(bits << 16) >> 16);
  c += (word >> 16) * (({0})bits >> 16);
  return c;
)";
constexpr Dot kDots[] = {
    {DType::kBF16, DType::kBF16, DType::kF32, 2, "__AVX512BF16__", kBf16, kBf16Plain},
    {DType::kF32, DType::kBF16, DType::kF32, 2, "", "", kShifts},
    {DType::kU8, DType::kS8, DType::kS32, 4, "__AVX512VNNI__", kBytes, kBytesPlain},
    {DType::kU8, DType::kS7, DType::kS32, 4, "__AVX512VNNI__", kBytes, kBytesPlain},
    {DType::kS16, DType::kS16, DType::kS32, 2, "__AVX512BW__", kWords, kWordsPlain},
};

constexpr std::string_view kDotStem = "dot_";

/// Returns the row for a name such as "dot_u8_s8x16", and the number of lanes.
const Dot* dot_named(std::string_view name, int& lanes) {
  for (const Dot& dot : kDots) {
    const std::string stem = fmt::format("{}{}_{}x", kDotStem, name_of(dot.a), name_of(dot.b));
    if (!name.starts_with(stem)) continue;
    lanes = static_cast<int>(parse_int(name.substr(stem.size())).value_or(0));
    return &dot;
  }
  return nullptr;
}

// One step of the emulation: a multiply-add like the instruction's, with one rounding and denormal numbers as
// zeros. Without fused multiply-adds the sum is computed in f64, where the product is exact, and rounded
// twice.
constexpr std::string_view kBf16StepName = "bf16_step";
constexpr std::string_view kBf16Step =
    R"(static inline float lehr_bf16_step(float c, unsigned x, unsigned y, int high) {
  unsigned a = high ? x & 0xffff0000u : x << 16, b = high ? y & 0xffff0000u : y << 16, sum;
  float p, q;
  if ((a & 0x7f800000u) == 0) a &= 0x80000000u;
  if ((b & 0x7f800000u) == 0) b &= 0x80000000u;
  __builtin_memcpy(&p, &a, 4);
  __builtin_memcpy(&q, &b, 4);
  __builtin_memcpy(&sum, &c, 4);
  if ((sum & 0x7f800000u) == 0) sum &= 0x80000000u;
  __builtin_memcpy(&c, &sum, 4);
#if defined(__FMA__) || defined(__aarch64__)
  c = __builtin_fmaf(p, q, c);
#else
  c = (float)((double)p * q + c);
#endif
  __builtin_memcpy(&sum, &c, 4);
  if ((sum & 0x7f800000u) == 0) sum &= 0x80000000u;
  __builtin_memcpy(&c, &sum, 4);
  return c;
}
)";

/// Returns the text for words on vectors shorter than 512 bits: vpmaddwd of 256 and 128 bits is older than
/// AVX-512.
std::string shorter_words(int lanes) {
  if (lanes == 16) return "";
  return fmt::format(R"(#elif defined({0})
  typedef short halves __attribute__((vector_size({1})));
  return c + (s32x{2})__builtin_ia32_pmaddwd{3}((halves)all, (halves)b);
)",
                     lanes == 8 ? "__AVX2__" : "__SSE2__", lanes * 4, lanes, lanes * 32);
}

/// Returns the text for bytes on vectors shorter than 512 bits. vpmaddubsw saturates sums of two products at
/// 16 bits, which products with s7 never reach.
std::string shorter_bytes(int lanes) {
  if (lanes == 16)
    return R"(#elif defined(__AVX512BW__)
  typedef short halves __attribute__((vector_size(64)));
  halves ones, pairs;
  s32x16 sums;
  for (int i = 0; i < 32; ++i) ones[i] = 1;
  __asm__("vpmaddubsw %2, %1, %0" : "=v"(pairs) : "v"(all), "v"(b));
  __asm__("vpmaddwd %2, %1, %0" : "=v"(sums) : "v"(pairs), "v"(ones));
  return c + sums;
)";
  return fmt::format(R"(#elif defined({0})
  typedef short halves __attribute__((vector_size({1})));
  typedef char bytes __attribute__((vector_size({1})));
  const halves ones = {{{4}}};
  const halves pairs = (halves)__builtin_ia32_pmaddubsw{3}((bytes)all, (bytes)b);
  return c + (s32x{2})__builtin_ia32_pmaddwd{3}(pairs, ones);
)",
                     lanes == 8 ? "__AVX2__" : "__SSSE3__", lanes * 4, lanes, lanes * 32,
                     repeated("1", 2 * lanes));
}

std::string dot_text(const Dot& dot, int lanes, const std::string& name) {
  const std::string sums = VectorName{dot.sums, lanes}.text();
  const VectorName b = {dot.b, lanes * dot.group};
  std::string text = fmt::format(
      "static inline {0} lehr_{1}({0} c, const void* a, {2} b) {{\n"
      "  typedef unsigned u32 __attribute__((vector_size({3})));\n",
      sums, name, b.text(), lanes * 4);
  if (dot.macro.empty()) return text + fmt::format(fmt::runtime(dot.without), sums, lanes) + "}\n";
  text += fmt::format(
      "  typedef int words __attribute__((aligned(1), may_alias));\n"
      "  typedef int s32 __attribute__((vector_size({0})));\n"
      "  const int word = *(const words*)a;\n"
      "  const s32 all = {{{1}}};\n  (void)all;\n"
      "#if defined({2}){3}\n{4}{5}#else\n{6}#endif\n}}\n",
      lanes * 4, repeated("word", lanes), dot.macro, lanes < 16 ? " && defined(__AVX512VL__)" : "",
      fmt::format(fmt::runtime(dot.with), sums, lanes),
      dot.a == DType::kS16  ? shorter_words(lanes)
      : dot.b == DType::kS7 ? shorter_bytes(lanes)
                            : std::string(),
      fmt::format(fmt::runtime(dot.without), sums, lanes));
  return text;
}

constexpr std::string_view kDotsStem = "dots_u8_";

/// Returns "dots_u8_s8x16": four neighbours of each of the two vectors.
std::string dots_text(const VectorName& sums, const std::string& name) {
  return fmt::format(R"(static inline s32x{1} lehr_{0}(s32x{1} c, u8x{2} a, {3}x{2} b) {{
#if defined(__AVX512VNNI__)
  __asm__("vpdpbusd %2, %1, %0" : "+v"(c) : "v"(a), "vm"(b));
#else
  for (int i = 0; i < {2}; ++i) c[i / 4] += a[i] * b[i];
#endif
  return c;
}}
)",
                     name, sums.lanes, 4 * sums.lanes, name_of(sums.type));
}

constexpr std::string_view kQuadsStem = "quads_";

// Returns "quads": in each group of four lines, words are interleaved first, then bytes.
std::string quads_text(DType from) {
  std::string words, bytes;
  for (int i = 0; i < 16; ++i) words += fmt::format("{}{}", i == 0 ? "" : ", ", i % 4 * 4 + i / 4);
  for (int i = 0; i < 64; ++i)
    bytes += fmt::format("{}{}", i == 0 ? "" : ", ", i / 16 * 16 + i % 4 * 4 + i / 4 % 4);
  std::string lines;
  for (int e = 0; e < 4; ++e)
    lines += fmt::format(
        "  const {0}* const p{1} = first <= {1} & {1} < end ? from + {1} * step : other;\n"
        "  const {2} v{1} = count >= 16 ? *(const {2}_u*)p{1} : lehr_load_{2}_n(p{1}, count);\n",
        scalar_name(from), e, VectorName{from, 16}.text());
  return fmt::format(
      R"(static inline void lehr_quads_{0}(u8x64* to, const {1}* from, const {1}* other, long step, long first,
                                 long end, long count) {{
{2}  u8x64 all;
#if defined(__AVX512BW__) && defined(__AVX512VL__)
  typedef int numbers __attribute__((vector_size(64)));
  const numbers words = {{{3}}};
  const u8x64 bytes = {{{4}}};
  __asm__("vmovdqu32 %1, %x0" : "=v"(all) : "vm"(v0));
  __asm__("vinserti32x4 $1, %1, %0, %0" : "+v"(all) : "vm"(v1));
  __asm__("vinserti32x4 $2, %1, %0, %0" : "+v"(all) : "vm"(v2));
  __asm__("vinserti32x4 $3, %1, %0, %0" : "+v"(all) : "vm"(v3));
  __asm__("vpermd %0, %1, %0" : "+v"(all) : "v"(words));
  __asm__("vpshufb %1, %0, %0" : "+v"(all) : "v"(bytes));
#else
  for (int i = 0; i < 16; ++i) all[4 * i] = v0[i], all[4 * i + 1] = v1[i], all[4 * i + 2] = v2[i], all[4 * i + 3] = v3[i];
#endif
  *to = all{5};
}}
)",
      name_of(from), scalar_name(from), lines, words, bytes, from == DType::kS8 ? " ^ 128" : "");
}

/// How elements become groups.
struct Groups {
  DType from, to;
  int group = 1;
  std::string_view one;      ///< expression for an element x
  std::string_view vectors;  ///< expression for sixteen of them, x, in a vector
};

// The bits of a bf16 are those of the f32 without its last 16.
constexpr Groups kGroups[] = {
    {DType::kBF16, DType::kBF16, 2, "x", "x"},
    {DType::kBF16, DType::kF32, 2, "lehr_f32_from_bf16(x)",
     "(f32x16)(__builtin_convertvector(x, u32x16) << 16)"},
    {DType::kU8, DType::kU8, 4, "x", "x"},
    {DType::kS8, DType::kU8, 4, "(unsigned char)(x ^ 128)", "(u8x16)x ^ 128"},
    {DType::kS8, DType::kS8, 4, "x", "x"},
    {DType::kS7, DType::kS7, 4, "x", "x"},
    {DType::kU8, DType::kS16, 2, "x", "__builtin_convertvector(x, s16x16)"},
    {DType::kS8, DType::kS16, 2, "x", "__builtin_convertvector(x, s16x16)"},
};

const Groups* groups_named(std::string_view name) {
  for (const Groups& groups : kGroups)
    if (name == fmt::format("groups_{}_{}", name_of(groups.from), name_of(groups.to))) return &groups;
  return nullptr;
}

/// Returns a function whose result alternates between lanes of two vectors with sixteen lanes, from lane
/// `first` on.
std::string alternating(std::string_view function, const std::string& vector, const std::string& number,
                        int first) {
  std::string list;
  for (int i = 0; i < 16; ++i) list += fmt::format("{}{}", i == 0 ? "" : ", ", first + i / 2 + i % 2 * 16);
  return fmt::format(
      R"(#ifdef __clang__
static inline {1} lehr_{0}({1} a, {1} b) {{ return __builtin_shufflevector(a, b, {3}); }}
#else
static inline {1} lehr_{0}({1} a, {1} b) {{
  typedef {2} numbers __attribute__((vector_size(sizeof({1}))));
  return __builtin_shuffle(a, b, numbers{{{3}}});
}}
#endif
)",
      function, vector, number, list);
}

// Processes sixteen groups at a time if the lines of their elements are contiguous: interleaves lines in
// pairs, and four lines in two steps.
std::string groups_text(const Groups& g, const std::string& name) {
  const VectorName from = {g.from, 16}, to = {g.to, 16};
  const std::string vector = from.text(), number = size_of(g.from) == 1 ? "signed char" : "short";
  const std::string low = name + "_low", high = name + "_high";
  std::string text = alternating(low, vector, number, 0) + alternating(high, vector, number, 8);
  text += fmt::format(
      "static inline {0} lehr_{1}_one({2} x) {{ return {3}; }}\n"
      "static inline {4} lehr_{1}_all({5} x) {{ return {6}; }}\n",
      scalar_name(g.to), name, scalar_name(g.from), g.one, to.text(), vector, g.vectors);
  std::string mixed, stores;
  if (g.group == 2) {
    mixed = fmt::format("      const {0} g[2] = {{lehr_{1}(v[0], v[1]), lehr_{2}(v[0], v[1])}};\n", vector,
                        low, high);
  } else {
    mixed = fmt::format(
        R"(      const {0} a = lehr_{1}(v[0], v[2]), b = lehr_{1}(v[1], v[3]);
      const {0} c = lehr_{2}(v[0], v[2]), d = lehr_{2}(v[1], v[3]);
      const {0} g[4] = {{lehr_{1}(a, b), lehr_{2}(a, b), lehr_{1}(c, d), lehr_{2}(c, d)}};
)",
        vector, low, high);
  }
  return text +
         fmt::format(
             R"(static inline void lehr_{0}({1}* to, const {2}* from, long count, long from_step, long line_step,
                      long lines, long to_step) {{
  long i = 0;
  if (from_step == 1 && to_step == {3} && lines >= {3})
    for (; i + 16 <= count; i += 16) {{
      {4} v[{3}];
      for (long e = 0; e < {3}; ++e) v[e] = *(const {4}_u*)(from + i + e * line_step);
{5}      for (long e = 0; e < {3}; ++e) *({6}_u*)(to + i * {3} + e * 16) = lehr_{0}_all(g[e]);
    }}
  for (; i < count; ++i)
    for (long e = 0; e < {3}; ++e)
      to[i * to_step + e] = e < lines ? lehr_{0}_one(from[i * from_step + e * line_step]) : ({1})0;
}}
)",
             name, scalar_name(g.to), scalar_name(g.from), g.group, vector, mixed, to.text());
}

std::string vector_snippet(DType type, int lanes) {
  return snippet_for("vector", type, lanes);
}

}  // namespace

std::string snippet_for(const char* stem, DType type, int lanes) {
  if (type == DType::kF32) return fmt::format("{}{}", stem, lanes);
  return fmt::format("{}_{}x{}", stem, name_of(type), lanes);
}

std::string narrow_snippet(const std::string& name) {
  if (name == kBf16StepName) return std::string(kBf16Step);
  if (const auto v = behind("vector_", name)) return vector_type(*v);
  if (const auto v = behind("splat_", name)) return splat(*v);
  if (const auto v = behind("masked_", name)) return masked(*v);
  constexpr std::string_view kRounded = "unary_rounded";
  if (name.starts_with(kRounded))
    return rounded(static_cast<int>(parse_int(std::string_view(name).substr(kRounded.size())).value_or(0)));
  int lanes = 0;
  if (const Dot* dot = dot_named(name, lanes)) return dot_text(*dot, lanes, name);
  if (const Groups* groups = groups_named(name)) return groups_text(*groups, name);
  if (const auto sums = behind(kDotsStem, name)) return dots_text(*sums, name);
  if (name.starts_with(kQuadsStem)) return quads_text(*parse_dtype(name.substr(kQuadsStem.size())));
  if (const auto c = cast_named(name)) return cast(*c, name);
  return "";
}

std::vector<std::string> narrow_snippets_needed_by(const std::string& name) {
  for (const std::string_view stem : {"splat_", "masked_"})
    if (const auto v = behind(stem, name)) return {vector_snippet(v->type, v->lanes)};
  constexpr std::string_view kRounded = "unary_rounded";
  if (name.starts_with(kRounded)) return {"vector" + name.substr(kRounded.size())};
  int lanes = 0;
  if (const Dot* dot = dot_named(name, lanes)) {
    std::vector<std::string> needed = {vector_snippet(dot->sums, lanes),
                                       vector_snippet(dot->b, lanes * dot->group)};
    if (dot->a == DType::kBF16) needed.emplace_back(kBf16StepName);
    return needed;
  }
  if (const auto sums = behind(kDotsStem, name))
    return {vector_snippet(DType::kS32, sums->lanes), vector_snippet(DType::kU8, 4 * sums->lanes),
            vector_snippet(sums->type, 4 * sums->lanes)};
  if (name.starts_with(kQuadsStem))
    return {fmt::format("masked_{}x16", name.substr(kQuadsStem.size())),
            vector_snippet(*parse_dtype(name.substr(kQuadsStem.size())), 16), vector_snippet(DType::kU8, 64)};
  if (const Groups* groups = groups_named(name)) {
    std::vector<std::string> needed = {vector_snippet(groups->from, 16), vector_snippet(groups->to, 16)};
    if (groups->from == DType::kBF16 && groups->to == DType::kF32) {
      needed.push_back("f32_from_bf16");
      needed.push_back(vector_snippet(DType::kU32, 16));
    }
    return needed;
  }
  const auto c = cast_named(name);
  if (!c || c->lanes == 1) return {};
  std::vector<std::string> needed = {vector_snippet(c->to, c->lanes), vector_snippet(c->from, c->lanes)};
  if (c->from == DType::kBF16 || c->to == DType::kBF16)
    needed.push_back(vector_snippet(DType::kU32, c->lanes));
  if (c->from == DType::kF32 || c->to == DType::kF32) needed.push_back(vector_snippet(DType::kS32, c->lanes));
  return needed;
}

}  // namespace lehr
