#include "target/cuda/archs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>

#include "base/error.h"
#include "target/archs.h"

namespace lehr {
namespace {

constexpr int all(std::initializer_list<Ability> abilities) {
  int bits = 0;
  for (const Ability ability : abilities) bits |= static_cast<int>(ability);
  return bits;
}

// PTX ISA 9.0, "Target ISA Notes" of cp.async, cvt, mma and wgmma.mma_async. The instructions for 8-bit
// floats were read off the SASS of NVRTC 13.0: QMMA on 8.9 and 12.x; F2FP and HMMA on 9.0, 10.x and 11.0.
constexpr int kTuring = 0;
constexpr int kAmpere =
    all({Ability::kAsyncCopies, Ability::kBF16, Ability::kMmaF16K16, Ability::kMmaTf32, Ability::kMmaS8K32});
constexpr int kEmulatesF8 = kAmpere | all({Ability::kMmaF8});
constexpr int kNativeF8 = kEmulatesF8 | all({Ability::kMmaF8IsNative});
constexpr int kHopper = kEmulatesF8 | all({Ability::kWgmma});

/// A multiprocessor: CUDA C++ Programming Guide 13.0, tables "Technical Specifications per Compute
/// Capability" and "Throughput of Native Arithmetic Instructions".
struct Core {
  int threads, blocks;
  int shared_kib, shared_kib_reserved;
  int f32_lanes;
};
/// A card, with the TFLOP/s of f32.
struct Card {
  int cores;
  double l2_mib;
  double dram_gbytes_per_s;
  double f32;
  bool geforce = false;  ///< see cuda_card_limits()
};
/// Dense TFLOP/s of the card's tensor cores, with sums in f32 (for s8 in s32), and the fraction of that rate
/// that mma.sync reaches.
struct Tensor {
  double f16, tf32, s8, f8;
  double mma_sync_share = 1;
};
struct Row {
  std::string_view arch;
  CudaCapability capability;
  int abilities;
  Core core;
  Card card;
  Tensor tensor;
};

// mma_sync_share of 9.0: "Dissecting the NVIDIA Hopper Architecture through Microbenchmarking and Multiple
// Level Analysis" (arXiv 2501.12084), 62 % of wgmma's rate in f16. Nothing is published for 10.x and 11.0:
// mma.sync is assumed to have the rate per clock and multiprocessor that it has on 9.0, where tcgen05 has
// twice wgmma's (bench/gpu/QUESTIONS.md asks).
constexpr double kOfWgmma = 0.62, kOfTcgen05 = 0.31;

// H200 SXM: NVIDIA H200 datasheet, without sparsity.
constexpr Core kHopperCore = {2048, 32, 228, 1, 128};
constexpr Card kH200 = {132, 50, 4800, 67};
constexpr Tensor kH200Tensor = {989, 494.7, 1979, 1979, kOfWgmma};

constexpr std::array kRows = {
    // T4: NVIDIA T4 datasheet; Turing architecture white paper (40 multiprocessors, L2).
    Row{"sm_75", {7, 5}, kTuring, {1024, 16, 64, 0, 64}, {40, 4, 320, 8.1}, {65, 0, 130, 0}},
    // A100 SXM 80 GB: NVIDIA A100 datasheet.
    Row{"sm_80", {8, 0}, kAmpere, {2048, 32, 164, 1, 64}, {108, 40, 2039, 19.5}, {312, 156, 624, 0}},
    // GeForce RTX 3090: NVIDIA Ampere GA102 GPU architecture white paper, appendix A.
    Row{"sm_86", {8, 6}, kAmpere, {1536, 16, 100, 1, 128}, {82, 6, 936, 35.6, true}, {71, 35.6, 284, 0}},
    // Jetson AGX Orin 64 GB: NVIDIA Jetson AGX Orin series technical brief (170 sparse TOPS, 5.3 TFLOP/s, 4
    // MB).
    Row{"sm_87", {8, 7}, kAmpere, {1536, 16, 164, 1, 128}, {16, 4, 204.8, 5.3}, {42.5, 21.2, 85, 0}},
    // L40S: NVIDIA L40S datasheet, without sparsity.
    Row{"sm_89", {8, 9}, kNativeF8, {1536, 24, 100, 1, 128}, {142, 96, 864, 91.6}, {362, 183, 733, 733}},
    // The plain name compiles without wgmma.
    Row{"sm_90", {9, 0}, kEmulatesF8, kHopperCore, kH200, kH200Tensor},
    Row{"sm_90a", {9, 0}, kHopper, kHopperCore, kH200, kH200Tensor},
    // B200: NVIDIA DGX B200 datasheet, an eighth of it, without sparsity; L2 of the Blackwell tuning guide.
    Row{"sm_100",
        {10, 0},
        kEmulatesF8,
        {2048, 32, 228, 1, 128},
        {148, 126, 7672, 75},
        {2250, 1125, 4500, 4500, kOfTcgen05}},
    // B300: NVIDIA HGX B300 datasheet, an eighth of it, without sparsity; it has few units for s8. L2 as
    // B200's.
    Row{"sm_103",
        {10, 3},
        kEmulatesF8,
        {2048, 32, 228, 1, 128},
        {148, 126, 7700, 75},
        {2250, 1125, 125, 4500, kOfTcgen05}},
    // Jetson AGX Thor: NVIDIA Jetson Thor series modules datasheet (2560 cores at 1.57 GHz; 1035 TFLOP/s in
    // FP4, half of that in FP8, a quarter in 16 bits, an eighth in tf32). The driver reports the L2.
    Row{"sm_110",
        {11, 0},
        kEmulatesF8,
        {1536, 24, 228, 1, 128},
        {20, 32, 273, 8.1},
        {259, 129, 518, 518, kOfTcgen05}},
    // GeForce RTX 5090: NVIDIA RTX Blackwell GPU architecture white paper, appendix A.
    Row{"sm_120",
        {12, 0},
        kNativeF8,
        {1536, 24, 100, 1, 128},
        {170, 96, 1792, 104.8, true},
        {209.5, 104.8, 838, 419}},
    // GB10: NVIDIA DGX Spark datasheet (6144 cores, 1 PFLOP/s of sparse FP4, 273 GB/s). The ratios of the
    // other rates to FP4 are assumed to be those of an RTX 5090, although it is no GeForce. The driver
    // reports the L2.
    Row{"sm_121", {12, 1}, kNativeF8, {1536, 24, 100, 1, 128}, {48, 24, 273, 31}, {62.5, 31, 250, 125}},
};

Limits limits_of(const Row& row) {
  Limits limits;
  limits.target = Target::kCuda;
  limits.arch = std::string(row.arch);
  limits.cores = row.card.cores;
  limits.warp_size = 32;
  limits.max_threads_per_block = 1024;
  limits.max_threads_per_core = row.core.threads;
  limits.max_blocks_per_core = row.core.blocks;
  limits.registers_per_core = 65536;
  limits.f32_lanes = row.core.f32_lanes;
  limits.max_registers_per_thread = 255;
  limits.shared_bytes_reserved = row.core.shared_kib_reserved * 1024;
  limits.shared_bytes_per_core = row.core.shared_kib * 1024;
  limits.shared_bytes_per_block = limits.shared_bytes_per_core - limits.shared_bytes_reserved;
  limits.abilities = row.abilities;
  limits.tensor_gflops_f16 = 1000 * row.tensor.f16;
  limits.tensor_gflops_tf32 = 1000 * row.tensor.tf32;
  limits.tensor_gflops_s8 = 1000 * row.tensor.s8;
  limits.tensor_gflops_f8 = 1000 * row.tensor.f8;
  limits.mma_sync_share = row.tensor.mma_sync_share;
  limits.l2_bytes = static_cast<std::int64_t>(row.card.l2_mib * (1 << 20));
  limits.peak_gflops_f32 = 1000 * row.card.f32;
  limits.dram_gbytes_per_s = row.card.dram_gbytes_per_s;
  return limits;
}

}  // namespace

std::vector<std::string> known_cuda_archs() {
  std::vector<std::string> archs;
  for (const Row& row : kRows) archs.emplace_back(row.arch);
  return archs;
}

Limits cuda_limits(std::string_view arch) {
  const auto row = std::ranges::find(kRows, arch, &Row::arch);
  if (row == kRows.end())
    throw_user("unknown CUDA architecture '{}'; known are {}", arch, fmt::join(known_cuda_archs(), ", "));
  return limits_of(*row);
}

namespace {

/// Returns the last row whose code runs on that card. A minor version runs code compiled for a smaller one
/// with the same major version (CUDA C++ Programming Guide 13.0, "Binary Compatibility"). The spelling with
/// more abilities comes after the plain one.
const Row* row_for(CudaCapability capability) {
  const Row* found = nullptr;
  for (const Row& row : kRows)
    if (row.capability.major == capability.major && row.capability.minor <= capability.minor) found = &row;
  return found;
}

}  // namespace

std::optional<Limits> cuda_card_limits(CudaCapability capability, std::string_view card) {
  const Row* const row = row_for(capability);
  if (row == nullptr) return std::nullopt;
  Limits limits = limits_of(*row);
  // Products of floats with sums in f32 have half the rate on GeForce cards: appendix A of the white papers
  // of GA102, AD102 and RTX Blackwell, compared with the datasheets of RTX A6000, L40S and RTX PRO 6000.
  const bool geforce = card.find("GeForce") != std::string_view::npos;
  if (geforce == row->card.geforce) return limits;
  const double factor = geforce ? 0.5 : 2;
  for (double Limits::* rate :
       {&Limits::tensor_gflops_f16, &Limits::tensor_gflops_tf32, &Limits::tensor_gflops_f8})
    limits.*rate *= factor;
  return limits;
}

void scale_rates(Limits& limits, double peak_gflops_f32) {
  if (!(limits.peak_gflops_f32 > 0) || !(peak_gflops_f32 > 0)) return;
  const double factor = peak_gflops_f32 / limits.peak_gflops_f32;
  for (double Limits::* rate : {&Limits::tensor_gflops_f16, &Limits::tensor_gflops_tf32,
                                &Limits::tensor_gflops_s8, &Limits::tensor_gflops_f8})
    limits.*rate *= factor;
  limits.peak_gflops_f32 = peak_gflops_f32;
}

namespace {

Limits limits_with(std::string_view arch, int cores) {
  Limits limits = cuda_limits(arch);
  if (cores <= 0) return limits;
  scale_rates(limits, limits.peak_gflops_f32 * cores / limits.cores);
  limits.cores = cores;
  return limits;
}

}  // namespace

const Archs kCudaArchs = {.known = &known_cuda_archs, .limits = &limits_with, .portable = true};

}  // namespace lehr
