// Somebody else's program: from a workload's text to the text of a kernel. docs/library.md shows it.
#include <cstdio>

#include "codegen/emit.h"
#include "target/cuda/archs.h"
#include "templates/catalog.h"

int main() {
  const lehr::Workload workload = lehr::parse_workload("gemm m=8 n=4096 k=1024");
  const lehr::Limits limits = lehr::cuda_limits("sm_90a");
  const lehr::KernelSpace kernels = lehr::kernel_space(workload, limits);
  const lehr::Point point = kernels.defaults.front();
  const lehr::Source source = lehr::emit(kernels.lower(point));
  std::printf("// %s, one of %zu families\n", to_text(kernels.space.config_of(point)).c_str(),
              kernels.space.families().size());
  std::puts(source.text.c_str());
}
