// Prints random ordinary workloads that a CPU family serves (f32), one a line, as `lehr tune --problems` and
// `lehr check --problems` read them.
//   ordinary_workloads SEED COUNT [MOST_GFLOP]
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

#include "templates/catalog.h"
#include "tests/support/ordinary.h"

int main(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr, "usage: ordinary_workloads SEED COUNT [MOST_GFLOP]\n");
    return 1;
  }
  lehr::testing::Ordinary kind;
  kind.any_type = false;
  kind.most_flops = 1e9 * (argc > 3 ? std::atof(argv[3]) : 2);
  kind.most_bytes = 200e6;
  kind.share_of_epilogues = 0.25;
  kind.share_of_constant_b = 0;  // there was none when the first lists were drawn
  lehr::Rng rng(std::strtoull(argv[1], nullptr, 10));
  lehr::Limits limits;
  limits.arch = "avx2", limits.vector_bytes = 32, limits.vector_registers = 16;
  for (long left = std::atol(argv[2]); left > 0;) {
    const lehr::Workload workload = lehr::testing::ordinary_workload(rng, kind);
    if (lehr::families_for(lehr::catalog(), workload, limits).spaces.empty()) continue;
    fmt::print("{}\n", lehr::to_text(workload));
    --left;
  }
}
