// Kernels of gemm_wgmma as text, and the same with planted faults.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "codegen/emit.h"
#include "cuda_mutants.h"
#include "target/cuda/archs.h"
#include "templates/family.h"
#include "templates/gemm/cuda/gemm_wgmma.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "tests/support/sample_config.h"
#include "tests/support/verify.h"

namespace lehr::testing {

constexpr std::uint64_t kGemmWgmmaSeed = 9;

/// Returns limits with so few multiprocessors that small problems keep persistent blocks busy.
inline Limits few_cores(int cores) {
  Limits limits = cuda_limits("sm_90a");
  limits.cores = cores;
  return limits;
}

struct Sampled {
  Workload workload;
  Limits limits;
  Config config;
};

inline Source source_of(const Sampled& one) {
  const ir::Kernel kernel = testing::lowered(gemm_wgmma_template(), one.workload, one.config, one.limits);
  EXPECT_EQ(ir::why_malformed(kernel), std::nullopt) << to_text(one.config);
  return emit(kernel);
}

struct Case {
  Workload workload;
  const char* config;
};

/// Kernels of `cases`, each with single steps left out or wrong.
class Faults {
 public:
  explicit Faults(const Case& one) : workload_(one.workload), config_(parse_config(one.config)) {
    EXPECT_EQ(gemm_wgmma_template().space(workload_, few_cores(2)).why_invalid(config_), std::nullopt);
    source_ = source_of({workload_, few_cores(2), config_});
  }
  GemmWgmmaSchedule schedule() const {
    return testing::schedule_of<gemm_wgmma_knobs>(config_, workload_, few_cores(2));
  }
  void plant_those_of_split_k(Mutants& mutants) const { mutants.add_those_of_split_k(source_, workload_); }
  void plant(Mutants& mutants, const std::string& what, const std::string& instead) const {
    const std::size_t before = mutants.size();
    mutants.add(source_, workload_, "extern \"C\"", what, instead);
    EXPECT_GT(mutants.size(), before) << what << " is not in the text";
  }

 private:
  Workload workload_;
  Config config_;
  Source source_;
};

}  // namespace lehr::testing
