// Prints random ordinary workloads for the CPU (f32), one a line, as `lehr tune --problems` and `lehr check --problems`
// read them.
//   ordinary_workloads SEED COUNT [MOST_GFLOP]
#include <fmt/core.h>

#include <cstdio>
#include <cstdlib>

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
  lehr::Rng rng(std::strtoull(argv[1], nullptr, 10));
  for (long i = 0; i < std::atol(argv[2]); ++i)
    fmt::print("{}\n", lehr::to_text(lehr::testing::ordinary_workload(rng, kind)));
}
