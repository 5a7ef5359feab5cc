// Conversions (PTX ISA 9.0, "Data Movement and Conversion Instructions: cvt"), ldmatrix ("Warp-level matrix
// load instruction: ldmatrix") and mma.sync ("Matrix multiply-accumulate operation using mma instruction").
// Functions of inline PTX are under `#ifndef LEHR_EMULATOR`; the emulator uses the others as they are.
#include "target/cuda/prelude_tensor.h"

#include <fmt/core.h>

#include <map>
#include <string_view>

namespace lehr {
namespace {

constexpr std::string_view kHead = "__device__ __forceinline__ ";

std::string device_only(const std::string& function) {
  return fmt::format("#ifndef LEHR_EMULATOR\n{}{}#endif\n", kHead, function);
}

std::string portable(const std::string& function) {
  return fmt::format("{}{}", kHead, function);
}

/// Converts e4m3 and e5m2 to f16, which can represent all their values, and then to f32. cvt converts pairs
/// only. For sm_89 and newer.
std::string from_8_bits(std::string_view type) {
  return device_only(fmt::format(
      R"(float lehr_f32_from_{0}(unsigned char x) {{
  unsigned pair;
  asm("cvt.rn.f16x2.{0}x2 %0, %1;" : "=r"(pair) : "h"(static_cast<unsigned short>(x)));
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(static_cast<unsigned short>(pair)));
  return y;
}}
)",
      type));
}

std::string to_16_bits(std::string_view type) {
  return device_only(fmt::format(
      R"(unsigned short lehr_{0}_from_f32(float x) {{
  unsigned short y;
  asm("cvt.rn.{0}.f32 %0, %1;" : "=h"(y) : "f"(x));
  return y;
}}
)",
      type));
}

/// Returns the function of ldmatrix. Lane l gives the address of row l % 8 of matrix l / 8; each matrix has 8
/// rows of 16 bytes.
std::string ldmatrix_x4(bool transposed) {
  return device_only(fmt::format(
      R"(void lehr_ldmatrix_x4{0}(unsigned* regs, const void* row) {{
  const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4{1}.shared.b16 {{%0, %1, %2, %3}}, [%4];"
               : "=r"(regs[0]), "=r"(regs[1]), "=r"(regs[2]), "=r"(regs[3])
               : "r"(address));
}}
)",
      transposed ? "_trans" : "", transposed ? ".trans" : ""));
}

/// Returns the function of the mma in which A has two registers and B has one.
std::string mma_of_half_k() {
  return device_only(R"(void lehr_mma_m16n8k8_f32_f16(float* d, const unsigned* a, const unsigned* b) {
  asm volatile(
      "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}
)");
}

/// Returns the function of an mma, d += a * b. `shape` is e.g. "m16n8k16"; the types are as PTX spells them.
std::string mma(std::string_view name, std::string_view shape, std::string_view accumulator,
                std::string_view operand) {
  const bool is_float = accumulator == "f32";
  return device_only(fmt::format(
      R"(void lehr_{0}({1}* d, const unsigned* a, const unsigned* b) {{
  asm volatile(
      "mma.sync.aligned.{2}.row.col.{3}.{4}.{4}.{3} {{%0, %1, %2, %3}}, {{%4, %5, %6, %7}}, {{%8, %9}}, "
      "{{%0, %1, %2, %3}};"
      : "+{5}"(d[0]), "+{5}"(d[1]), "+{5}"(d[2]), "+{5}"(d[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}}
)",
      name, is_float ? "float" : "int", shape, accumulator, operand, is_float ? "f" : "r"));
}

std::map<std::string, std::string> all_snippets() {
  return {
      {"f32_from_bf16", device_only("float lehr_f32_from_bf16(unsigned short x) {\n"
                                    "  return __uint_as_float(static_cast<unsigned>(x) << 16);\n}\n")},
      {"f32_from_f16", device_only("float lehr_f32_from_f16(unsigned short x) {\n  float y;\n"
                                   "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(y) : \"h\"(x));\n"
                                   "  return y;\n}\n")},
      {"f32_from_e4m3", from_8_bits("e4m3")},
      {"f32_from_e5m2", from_8_bits("e5m2")},
      {"bf16_from_f32", to_16_bits("bf16")},
      {"f16_from_f32", to_16_bits("f16")},
      {"tf32", device_only("unsigned lehr_tf32(float x) {\n  unsigned y;\n"
                           "  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(y) : \"f\"(x));\n"
                           "  return y;\n}\n")},
      // The mma reads only the upper 19 bits, so without the rounding it would truncate.
      {"tf32_round_x4",
       portable("void lehr_tf32_round_x4(unsigned* regs) {\n#pragma unroll\n"
                "  for (int i = 0; i < 4; ++i) regs[i] = lehr_tf32(*reinterpret_cast<float*>(&regs[i]));\n"
                "}\n")},
      // Splits x into high + low, each a tf32; the error is below 2^-22 of x.
      {"tf32_split_x4", portable("void lehr_tf32_split_x4(unsigned* high, unsigned* low) {\n#pragma unroll\n"
                                 "  for (int i = 0; i < 4; ++i) {\n"
                                 "    const float x = *reinterpret_cast<float*>(&high[i]);\n"
                                 "    high[i] = lehr_tf32(x);\n"
                                 "    low[i] = lehr_tf32(x - *reinterpret_cast<float*>(&high[i]));\n"
                                 "  }\n}\n")},
      // For elements that ldmatrix cannot transpose: 32 or 8 bits, one row of shared memory per k.
      {"gather_1x32", portable("void lehr_gather_1x32(unsigned* reg, const void* from) {\n"
                               "  *reg = *reinterpret_cast<const unsigned*>(from);\n}\n")},
      {"gather_4x8", portable("void lehr_gather_4x8(unsigned* reg, const void* from, int stride) {\n"
                              "  const unsigned char* byte = reinterpret_cast<const unsigned char*>(from);\n"
                              "  *reg = byte[0] | byte[stride] << 8 | byte[2 * stride] << 16 |\n"
                              "         static_cast<unsigned>(byte[3 * stride]) << 24;\n}\n")},
      {"ldmatrix_x4", ldmatrix_x4(false)},
      {"ldmatrix_x4_trans", ldmatrix_x4(true)},
      {"mma_m16n8k16_f32_bf16", mma("mma_m16n8k16_f32_bf16", "m16n8k16", "f32", "bf16")},
      {"mma_m16n8k16_f32_f16", mma("mma_m16n8k16_f32_f16", "m16n8k16", "f32", "f16")},
      {"mma_m16n8k8_f32_f16", mma_of_half_k()},
      {"mma_m16n8k8_f32_tf32", mma("mma_m16n8k8_f32_tf32", "m16n8k8", "f32", "tf32")},
      {"mma_m16n8k32_s32_s8", mma("mma_m16n8k32_s32_s8", "m16n8k32", "s32", "s8")},
      {"mma_m16n8k32_f32_e4m3", mma("mma_m16n8k32_f32_e4m3", "m16n8k32", "f32", "e4m3")},
      {"mma_m16n8k32_f32_e5m2", mma("mma_m16n8k32_f32_e5m2", "m16n8k32", "f32", "e5m2")},
  };
}

}  // namespace

std::string tensor_snippet(const std::string& name) {
  static const std::map<std::string, std::string> snippets = all_snippets();
  const auto found = snippets.find(name);
  return found == snippets.end() ? "" : found->second;
}

std::string tensor_snippet_needed_by(const std::string& name) {
  return name.starts_with("tf32_") ? "tf32" : "";
}

}  // namespace lehr
