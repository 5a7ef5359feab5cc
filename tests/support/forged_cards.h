// GPUs that this machine does not have, with the facts that their drivers would report. Logs of them must be
// exportable on any machine.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "record/device.h"
#include "target/cuda/archs.h"

namespace lehr::test {

struct Card {
  const char* name;
  const char* arch;
  int cores;  ///< number of multiprocessors
  int threads_per_core, blocks_per_core;
  std::int64_t shared_kib_per_block, shared_kib_per_core, l2_mib;
};

/// Numbers of multiprocessors and L2 sizes are from NVIDIA's data sheets and architecture white papers.
/// Threads, blocks and shared memory of a multiprocessor are from the CUDA C++ Programming Guide 13.0,
/// "Technical Specifications per Compute Capability".
inline constexpr std::array kCards = {
    Card{"NVIDIA H100 PCIe", "sm_90a", 114, 2048, 32, 227, 228, 50},
    Card{"NVIDIA H20", "sm_90a", 78, 2048, 32, 227, 228, 60},
    Card{"NVIDIA A30", "sm_80", 56, 2048, 32, 163, 164, 24},
    Card{"NVIDIA L4", "sm_89", 58, 1536, 24, 99, 100, 48},
    Card{"NVIDIA GeForce RTX 3090", "sm_86", 82, 1536, 16, 99, 100, 6},
    Card{"NVIDIA GeForce RTX 5090", "sm_120", 170, 1536, 24, 99, 100, 96},
    Card{"Tesla T4", "sm_75", 40, 1024, 16, 64, 64, 4},
    Card{"Orin (nvgpu)", "sm_87", 16, 1536, 16, 163, 164, 4},
    Card{"NVIDIA B200", "sm_100", 148, 2048, 32, 227, 228, 126},
    Card{"NVIDIA B300", "sm_103", 148, 2048, 32, 227, 228, 126},
    Card{"NVIDIA Thor", "sm_110", 20, 1536, 24, 227, 228, 32},
    Card{"NVIDIA GB10", "sm_121", 48, 1536, 24, 99, 100, 24},
};

inline Device forged(const Card& card) {
  Device device;
  device.name = card.name;
  device.driver = "580.65.06";
  device.compiler = "NVRTC 13.0";
  device.uuid = "GPU-forged";
  device.os = "Linux 6.1 x86_64";
  Limits& limits = device.limits;
  limits = cuda_limits(card.arch);
  limits.cores = card.cores;
  limits.max_threads_per_core = card.threads_per_core;
  limits.max_blocks_per_core = card.blocks_per_core;
  limits.shared_bytes_per_block = card.shared_kib_per_block << 10;
  limits.shared_bytes_per_core = card.shared_kib_per_core << 10;
  limits.l2_bytes = card.l2_mib << 20;
  return device;
}

}  // namespace lehr::test
