// The smallest program to start workers from, for tests that do not link the command line.
#include <vector>

#include "measure/worker/served_process.h"
#include "mixed_kind.h"
#include "tune/workload_problem.h"

int main(int argc, char** argv) {
  std::vector<lehr::ProblemKind> kinds(lehr::workload_kinds().begin(), lehr::workload_kinds().end());
  kinds.push_back(lehr::testing::mixed_kind());
  return lehr::served_process(argc, argv, kinds).value_or(1);
}
