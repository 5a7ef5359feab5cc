// An exported kernel for CUDA as a participant of `lehr bench --bundle`, on a driver that is a stand-in.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/error.h"
#include "measure/core/problem.h"
#include "measure/vendor/bundle/cuda_bundle.h"
#include "tests/support/problem_for.h"
#include "workload/workload.h"

namespace lehr::bundle {
namespace {

using ::testing::HasSubstr;

class CudaParticipant : public ::testing::Test {
 protected:
  CudaParticipant() : fake_(dlopen(LEHR_FAKE_LIBCUDA, RTLD_NOW | RTLD_LOCAL)) {
    EXPECT_NE(fake_, nullptr) << dlerror();
    call<void(std::size_t)>("fake_cuda_reset")(std::size_t{1} << 30);
  }
  template <typename Signature>
  Signature* call(const char* name) const {
    return reinterpret_cast<Signature*>(dlsym(fake_, name));
  }
  std::size_t count(const std::string& word) const {
    const std::string text = call<const char*()>("fake_cuda_calls")();
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  }
  void prepare(const char* workload) {
    RunSettings settings;
    settings.bundle = LEHR_BY_HAND;
    runner_.prepare(problem_for(parse_workload(workload), 1), settings);
  }

  CudaBundleRunner runner_{{LEHR_FAKE_LIBCUDA, LEHR_FAKE_LIBCUDA}};

 private:
  void* fake_;
};

TEST_F(CudaParticipant, IsCheckedTwiceAndTimed) {
  for (int times = 0; times < 2; ++times) {
    const std::size_t maps = count("cuTensorMapEncodeTiled"), launches = count("cuLaunchKernelEx");
    prepare("gemm m=4 n=8 k=4");
    const std::variant<Checked, Fault> checked = runner_.check(0);
    ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
    EXPECT_EQ(std::get<Checked>(checked).note, "gemm_4_8_4");
    EXPECT_EQ(count("cuLaunchKernelEx"), launches + 2);
    EXPECT_EQ(count("cuTensorMapEncodeTiled"), maps + 1) << "kept for the second call";
  }
  const std::variant<Samples, Fault> samples = runner_.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(samples)) << std::get<Fault>(samples).failure.text;
  EXPECT_GT(count("cuGraphLaunch"), 0u);
}

TEST_F(CudaParticipant, WrongOnesAreFound) {
  prepare("gemm m=4 n=8 k=5");
  const std::variant<Checked, Fault> checked = runner_.check(0);
  ASSERT_TRUE(std::holds_alternative<Fault>(checked));
  EXPECT_EQ(std::get<Fault>(checked).failure.kind, FailureKind::kWrongResult);
}

TEST_F(CudaParticipant, WhatIsNotServedIsSaid) {
  try {
    prepare("gemm m=4 n=8 k=6");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("the library has no kernel for 'gemm m=4 n=8 k=6"));
  }
}

}  // namespace
}  // namespace lehr::bundle
