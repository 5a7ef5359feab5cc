#include "base/limits.h"

#include <fmt/format.h>

#include "base/error.h"

namespace lehr {

std::vector<std::string> known_cuda_archs() { return {"sm_80", "sm_89", "sm_90", "sm_90a"}; }

Limits cuda_limits(std::string_view arch) {
  Limits limits;
  limits.target = Target::kCuda;
  limits.arch = std::string(arch);
  // CUDA C++ Programming Guide 13.0, table "Technical Specifications per Compute Capability".
  limits.warp_size = 32;
  limits.max_threads_per_block = 1024;
  limits.registers_per_core = 65536;
  limits.max_registers_per_thread = 255;
  if (arch == "sm_80") {  // A100 SXM 80 GB: NVIDIA A100 datasheet
    limits.cores = 108;
    limits.max_threads_per_core = 2048;
    limits.max_blocks_per_core = 32;
    limits.shared_bytes_per_block = 163 * 1024;
    limits.shared_bytes_per_core = 164 * 1024;
    limits.l2_bytes = 40LL << 20;
    limits.peak_gflops_f32 = 19500;
    limits.dram_gbytes_per_s = 2039;
  } else if (arch == "sm_89") {  // L40S: NVIDIA L40S datasheet
    limits.cores = 142;
    limits.max_threads_per_core = 1536;
    limits.max_blocks_per_core = 24;
    limits.shared_bytes_per_block = 99 * 1024;
    limits.shared_bytes_per_core = 100 * 1024;
    limits.l2_bytes = 96LL << 20;
    limits.peak_gflops_f32 = 91600;
    limits.dram_gbytes_per_s = 864;
  } else if (arch == "sm_90" || arch == "sm_90a") {  // H200 SXM: NVIDIA H200 datasheet
    limits.cores = 132;
    limits.max_threads_per_core = 2048;
    limits.max_blocks_per_core = 32;
    limits.shared_bytes_per_block = 227 * 1024;
    limits.shared_bytes_per_core = 228 * 1024;
    limits.l2_bytes = 50LL << 20;
    limits.peak_gflops_f32 = 67000;
    limits.dram_gbytes_per_s = 4800;
  } else {
    throw_user("unknown CUDA architecture '{}'; known are {}", arch, fmt::join(known_cuda_archs(), ", "));
  }
  return limits;
}

}  // namespace lehr
