// Name, instruction set, caches, cores, as the kernel and the CPU report them.
#include "measure/host/cpu_device.h"

#include <unistd.h>

#include <algorithm>
#include <fstream>

#include "base/error.h"
#include "measure/host/peak.h"
#include "measure/system/affinity.h"
#include "measure/system/operating_system.h"

namespace lehr {
namespace {

std::string trimmed(const std::string& text) {
  const std::size_t first = text.find_first_not_of(" \t");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// Returns the value of the first line "key : value" of /proc/cpuinfo; "" if there is no such line.
std::string cpuinfo_field(const std::string& key) {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    const std::size_t colon = line.find(':');
    if (colon != std::string::npos && trimmed(line.substr(0, colon)) == key)
      return trimmed(line.substr(colon + 1));
  }
  return "";
}

/// Returns the CPU's name. Hypervisors shorten the model name ("Intel(R) Xeon(R) Processor"), so the name
/// includes family and model.
std::string cpu_name() {
  std::string name = cpuinfo_field("model name");
  for (const std::string mark : {"(R)", "(TM)", "(tm)"}) {
    for (std::size_t at = name.find(mark); at != std::string::npos; at = name.find(mark))
      name.erase(at, mark.size());
  }
  const std::string family = cpuinfo_field("cpu family");
  const std::string model = cpuinfo_field("model");
  if (!family.empty())
    return fmt::format("{} (family {} model {})", name.empty() ? "CPU" : name, family, model);
  const std::string part = cpuinfo_field("CPU part");
  if (!part.empty()) return fmt::format("CPU implementer {} part {}", cpuinfo_field("CPU implementer"), part);
  return name.empty() ? "unknown CPU" : name;
}

std::string_view widest_arch() {
#if defined(__x86_64__)
  __builtin_cpu_init();
  // The builtins also ask the operating system (XGETBV) whether it saves the wide registers.
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
    return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
  return "sse2";
#elif defined(__aarch64__)
  return "neon";
#else
#error "measure/host/cpu_device.cpp knows x86-64 and AArch64 only"
#endif
}

void set_instruction_set(Limits& limits, const Isa& isa) {
  const auto usual = [](std::string_view arch) { return archs_of(Target::kCpu).limits(arch, 1); };
  const Limits widest = usual(widest_arch());
  const Limits chosen = isa.level == nullptr ? widest : usual(isa.level->arch);
  if (chosen.vector_bytes > widest.vector_bytes)
    throw_environment("{} has vectors of {} bytes, and this CPU ({}) has none wider than {}", isa.level->name,
                      chosen.vector_bytes, widest.arch, widest.vector_bytes);
  limits.arch = chosen.arch;
  limits.vector_bytes = chosen.vector_bytes;
  limits.vector_registers = chosen.vector_registers;
  limits.abilities = isa.abilities;
}

/// Returns the size of the data or unified cache of `level` as seen by `cpu`; 0 if neither the kernel nor the
/// C library knows it.
std::int64_t cache_bytes(int cpu, int level) {
  for (int index = 0; index < 8; ++index) {
    const std::string folder = fmt::format("/sys/devices/system/cpu/cpu{}/cache/index{}/", cpu, index);
    int found_level = 0;
    std::string type;
    std::int64_t size = 0;
    std::string unit;
    if (!(std::ifstream(folder + "level") >> found_level)) break;
    std::ifstream(folder + "type") >> type;
    std::ifstream size_file(folder + "size");
    if (found_level != level || type == "Instruction" || !(size_file >> size)) continue;
    size_file >> unit;
    return unit == "M" ? size << 20 : unit == "K" ? size << 10 : size;
  }
  const int names[] = {_SC_LEVEL1_DCACHE_SIZE, _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
  return std::max<std::int64_t>(0, sysconf(names[level - 1]));
}

}  // namespace

Device cpu_device(int threads, bool measure_rates, const Isa& isa) {
  if (threads < 0) throw_user("the number of threads must be 0 (all) or more, not {}", threads);
  const std::vector<int> cpus = allowed_cpus();
  Device device;
  device.name = cpu_name();
  Limits& limits = device.limits;
  limits.target = Target::kCpu;
  limits.cores = static_cast<int>(cpus.size());
  if (threads > 0) limits.cores = std::min(limits.cores, threads);
  set_instruction_set(limits, isa);
  // If a size is not known (some containers hide it), assumes the smallest caches of current server CPUs, so
  // that tiles fit.
  const auto known_or = [](std::int64_t size, std::int64_t otherwise) { return size > 0 ? size : otherwise; };
  limits.l1_bytes = known_or(cache_bytes(cpus[0], 1), 32 << 10);
  limits.l2_bytes = known_or(cache_bytes(cpus[0], 2), 512 << 10);
  limits.l3_bytes = known_or(cache_bytes(cpus[0], 3), 8 << 20);
  device.os = operating_system();
  if (measure_rates) {
    limits.peak_gflops_f32 = measure_peak_gflops(limits.cores, limits.arch);
    limits.dram_gbytes_per_s = measure_read_gbytes(limits.cores, limits.l3_bytes);
  }
  return device;
}

}  // namespace lehr
