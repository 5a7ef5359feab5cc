// Prints random ordinary workloads of a target: as `lehr tune --problems` and `lehr check --problems` read
// them, one a line, or as steps of bench/gpu/run. Those of a GPU are layers of published networks in every
// type, in sizes that need some microseconds to some milliseconds. Those of a CPU are of one type, and some
// family serves them.
//   ordinary_workloads [--plan] cpu|cuda SEED COUNT [MOST_GFLOP of one on a CPU [f32|bf16|u8|s8]]
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "templates/catalog.h"
#include "tests/support/ordinary.h"
#include "tests/support/ordinary_gpu.h"
#include "workload/operator.h"

namespace {

using lehr::testing::GpuWorkload;

std::vector<GpuWorkload> of_cpu(lehr::Rng& rng, std::size_t count, double most_gflop, lehr::DType type) {
  lehr::testing::Ordinary kind;
  kind.type = type;
  kind.most_flops = 1e9 * most_gflop;
  kind.most_bytes = 200e6;
  kind.share_of_epilogues = lehr::is_integer(type) ? 0.75 : 0.25;  // few networks want sums in s32
  kind.share_of_constant_b = 0;                                    // the first lists were drawn without it
  lehr::Limits limits;
  limits.arch = "avx2";
  limits.vector_bytes = 32;
  limits.vector_registers = 16;
  std::vector<GpuWorkload> workloads;
  while (workloads.size() < count) {
    const lehr::Workload workload = lehr::testing::ordinary_workload(rng, kind);
    if (!lehr::families_for(lehr::catalog(), workload, limits).spaces.empty())
      workloads.push_back({std::string(lehr::operator_of(workload).name), workload});
  }
  return workloads;
}

}  // namespace

int main(int argc, char** argv) {
  const bool plan = argc > 1 && std::string_view(argv[1]) == "--plan";
  argc -= plan ? 1 : 0;
  argv += plan ? 1 : 0;
  const std::string_view target = argc > 1 ? argv[1] : "";
  const std::optional<lehr::DType> type = lehr::parse_dtype(argc > 5 ? argv[5] : "f32");
  if (argc < 4 || (target != "cpu" && target != "cuda") || !type) {
    fmt::print(stderr, "usage: ordinary_workloads [--plan] cpu|cuda SEED COUNT [MOST_GFLOP [TYPE]]\n");
    return 1;
  }
  lehr::Rng rng(std::strtoull(argv[2], nullptr, 10));
  const std::size_t count = std::strtoull(argv[3], nullptr, 10);
  const std::vector<GpuWorkload> workloads =
      target == "cuda" ? lehr::testing::ordinary_gpu_workloads(rng, count)
                       : of_cpu(rng, count, argc > 4 ? std::atof(argv[4]) : 2, *type);
  if (plan) fmt::print("# ordinary_workloads --plan {} {} {}\n", target, argv[2], count);
  int number = 0;
  for (const auto& [kind, workload] : workloads) {
    ++number;
    if (plan)
      fmt::print("tune ordinary {:02}_{} {}\n", number, kind, lehr::testing::flags_text(workload));
    else
      fmt::print("{}\n", lehr::to_text(workload));
  }
}
