// Asks the processor for its features (on Arm the operating system), since __builtin_cpu_supports() needs
// another library than libc.
#include "runtime/cpu_features.h"

#include "runtime/cpu_levels.h"
#include "runtime/words.h"

#if defined(__x86_64__)
#include <cpuid.h>
#elif defined(__aarch64__)
#include <sys/auxv.h>
#endif

namespace lehr::runtime {

std::string_view cpu_machine() {
#if defined(__x86_64__)
  return "x86_64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "unknown";
#endif
}

#if defined(__x86_64__)
namespace {

// Kinds of registers that a feature uses. The feature is available only if the operating system saves these
// registers (XCR0).
enum class Saved : std::uint8_t { kAlways, kAvx, kAvx512, kAmx };
enum class From : std::uint8_t { k1Ecx, k7Ebx, k7Ecx, k7Edx, k71Eax, k80000001Ecx };

struct FeatureRow {
  CpuFeature feature;
  From from;
  unsigned bit;
  Saved saved;
};

// Sources: Intel 64 and IA-32 Architectures Software Developer's Manual, volume 2, CPUID (leaves 1, 7.0,
// 7.1), and AMD64 Architecture Programmer's Manual, volume 3, appendix E (leaf 8000_0001h: lzcnt, which AMD
// calls ABM).
constexpr FeatureRow kRows[] = {
    {{"sse3", "__SSE3__"}, From::k1Ecx, 0, Saved::kAlways},
    {{"ssse3", "__SSSE3__"}, From::k1Ecx, 9, Saved::kAlways},
    {{"sse4.1", "__SSE4_1__"}, From::k1Ecx, 19, Saved::kAlways},
    {{"sse4.2", "__SSE4_2__"}, From::k1Ecx, 20, Saved::kAlways},
    {{"movbe", "__MOVBE__"}, From::k1Ecx, 22, Saved::kAlways},
    {{"popcnt", "__POPCNT__"}, From::k1Ecx, 23, Saved::kAlways},
    {{"avx", "__AVX__"}, From::k1Ecx, 28, Saved::kAvx},
    {{"f16c", "__F16C__"}, From::k1Ecx, 29, Saved::kAvx},
    {{"fma", "__FMA__"}, From::k1Ecx, 12, Saved::kAvx},
    {{"bmi", "__BMI__"}, From::k7Ebx, 3, Saved::kAlways},
    {{"avx2", "__AVX2__"}, From::k7Ebx, 5, Saved::kAvx},
    {{"bmi2", "__BMI2__"}, From::k7Ebx, 8, Saved::kAlways},
    {{"avx512f", "__AVX512F__"}, From::k7Ebx, 16, Saved::kAvx512},
    {{"avx512dq", "__AVX512DQ__"}, From::k7Ebx, 17, Saved::kAvx512},
    {{"adx", "__ADX__"}, From::k7Ebx, 19, Saved::kAlways},
    {{"avx512ifma", "__AVX512IFMA__"}, From::k7Ebx, 21, Saved::kAvx512},
    {{"avx512cd", "__AVX512CD__"}, From::k7Ebx, 28, Saved::kAvx512},
    {{"avx512bw", "__AVX512BW__"}, From::k7Ebx, 30, Saved::kAvx512},
    {{"avx512vl", "__AVX512VL__"}, From::k7Ebx, 31, Saved::kAvx512},
    {{"avx512vbmi", "__AVX512VBMI__"}, From::k7Ecx, 1, Saved::kAvx512},
    {{"avx512vbmi2", "__AVX512VBMI2__"}, From::k7Ecx, 6, Saved::kAvx512},
    {{"gfni", "__GFNI__"}, From::k7Ecx, 8, Saved::kAlways},
    {{"avx512vnni", "__AVX512VNNI__"}, From::k7Ecx, 11, Saved::kAvx512},
    {{"avx512bitalg", "__AVX512BITALG__"}, From::k7Ecx, 12, Saved::kAvx512},
    {{"avx512vpopcntdq", "__AVX512VPOPCNTDQ__"}, From::k7Ecx, 14, Saved::kAvx512},
    {{"avx512vp2intersect", "__AVX512VP2INTERSECT__"}, From::k7Edx, 8, Saved::kAvx512},
    {{"amx-bf16", "__AMX_BF16__"}, From::k7Edx, 22, Saved::kAmx},
    {{"avx512fp16", "__AVX512FP16__"}, From::k7Edx, 23, Saved::kAvx512},
    {{"amx-tile", "__AMX_TILE__"}, From::k7Edx, 24, Saved::kAmx},
    {{"amx-int8", "__AMX_INT8__"}, From::k7Edx, 25, Saved::kAmx},
    {{"avxvnni", "__AVXVNNI__"}, From::k71Eax, 4, Saved::kAvx},
    {{"avx512bf16", "__AVX512BF16__"}, From::k71Eax, 5, Saved::kAvx512},
    {{"lzcnt", "__LZCNT__"}, From::k80000001Ecx, 5, Saved::kAlways},
};
constexpr std::size_t kCount = sizeof kRows / sizeof *kRows;
static_assert(kCount <= 64);

struct Answers {
  unsigned of[6] = {};  // values of registers, in the order of From
  std::uint64_t saved = 0;
};

Answers ask() {
  Answers answers;
  unsigned eax, ebx, ecx, edx;
  if (__get_cpuid_count(7, 0, &eax, &ebx, &ecx, &edx)) {
    answers.of[1] = ebx;
    answers.of[2] = ecx;
    answers.of[3] = edx;
    if (eax >= 1 && __get_cpuid_count(7, 1, &eax, &ebx, &ecx, &edx)) answers.of[4] = eax;
  }
  if (__get_cpuid(0x80000001, &eax, &ebx, &ecx, &edx)) answers.of[5] = ecx;
  if (!__get_cpuid(1, &eax, &ebx, &ecx, &edx)) return answers;
  answers.of[0] = ecx;
  constexpr unsigned kOsxsave = 1u << 27;
  if (ecx & kOsxsave) {
    unsigned low, high;
    asm volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    answers.saved = std::uint64_t{high} << 32 | low;
  }
  return answers;
}

// Returns the bits of XCR0 that stand for these registers (Intel's manual, volume 1, section 13.3).
std::uint64_t xcr0_bits_of(Saved what) {
  if (what == Saved::kAvx) return 0x6;
  if (what == Saved::kAvx512) return 0xe6;
  return what == Saved::kAmx ? 0x60000 : 0;
}

bool saves(std::uint64_t mask, Saved what) {
  const std::uint64_t needed = xcr0_bits_of(what);
  return (mask & needed) == needed;
}

}  // namespace

CpuFeatures cpu_features_here() {
  const Answers answers = ask();
  CpuFeatures features = 0;
  for (std::size_t i = 0; i < kCount; ++i) {
    const FeatureRow& variant = kRows[i];
    if (answers.of[static_cast<std::size_t>(variant.from)] >> variant.bit & 1 &&
        saves(answers.saved, variant.saved))
      features |= CpuFeatures{1} << i;
  }
  return features;
}

#elif defined(__aarch64__)
namespace {

struct FeatureRow {
  CpuFeature feature;
  unsigned long from;  // AT_HWCAP or AT_HWCAP2
  unsigned bit;
};

// Sources: Linux, arch/arm64/include/uapi/asm/hwcap.h; the macros are from the Arm C Language Extensions. The
// names are those that GCC and clang take after -march=armv8-a+.
constexpr FeatureRow kRows[] = {
    {{"aes", "__ARM_FEATURE_AES"}, AT_HWCAP, 3},
    {{"sha2", "__ARM_FEATURE_SHA2"}, AT_HWCAP, 6},
    {{"crc", "__ARM_FEATURE_CRC32"}, AT_HWCAP, 7},
    {{"lse", "__ARM_FEATURE_ATOMICS"}, AT_HWCAP, 8},
    {{"fp16", "__ARM_FEATURE_FP16_VECTOR_ARITHMETIC"}, AT_HWCAP, 10},
    {{"rdma", "__ARM_FEATURE_QRDMX"}, AT_HWCAP, 12},
    {{"dotprod", "__ARM_FEATURE_DOTPROD"}, AT_HWCAP, 20},
    {{"sve", "__ARM_FEATURE_SVE"}, AT_HWCAP, 22},
    {{"fp16fml", "__ARM_FEATURE_FP16_FML"}, AT_HWCAP, 23},
    {{"sve2", "__ARM_FEATURE_SVE2"}, AT_HWCAP2, 1},
    {{"i8mm", "__ARM_FEATURE_MATMUL_INT8"}, AT_HWCAP2, 13},
    {{"bf16", "__ARM_FEATURE_BF16_VECTOR_ARITHMETIC"}, AT_HWCAP2, 14},
};
constexpr std::size_t kCount = sizeof kRows / sizeof *kRows;

}  // namespace

CpuFeatures cpu_features_here() {
  CpuFeatures features = 0;
  for (std::size_t i = 0; i < kCount; ++i)
    if (getauxval(kRows[i].from) >> kRows[i].bit & 1) features |= CpuFeatures{1} << i;
  return features;
}

#else
namespace {

struct FeatureRow {
  CpuFeature feature;
};
constexpr FeatureRow kRows[] = {{{"", ""}}};
constexpr std::size_t kCount = 0;

}  // namespace

CpuFeatures cpu_features_here() {
  return 0;
}
#endif

std::size_t cpu_feature_count() {
  return kCount;
}

const CpuFeature& cpu_feature(std::size_t index) {
  return kRows[index].feature;
}

CpuFeatures cpu_feature_named(std::string_view name) {
  for (std::size_t i = 0; i < cpu_feature_count(); ++i)
    if (cpu_feature(i).name == name) return CpuFeatures{1} << i;
  return 0;
}

std::string_view highest_cpu_level(CpuFeatures features) {
  std::string_view highest = "";
  for (const CpuLevel& level : kCpuLevels) {
    if (level.machine != cpu_machine()) continue;
    Words words(level.features);
    for (std::string_view word; words.next(word);)
      if ((cpu_feature_named(word) & ~features) != 0) return highest;
    highest = level.name;
  }
  return highest;
}

}  // namespace lehr::runtime
