// A bundle's kernel for CUDA as a participant of `lehr bench --bundle`, on a driver that is a stand-in.
#include <dlfcn.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>

#include "base/error.h"
#include "measure/core/problem.h"
#include "measure/vendor/bundle/cuda_bundle.h"
#include "tests/runtime/folder_support.h"
#include "tests/support/problem_for.h"
#include "workload/workload.h"

namespace lehr::bundle {
namespace {

using lehr::testing::BundleFolder;
using nlohmann::json;
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
  std::string calls() const { return call<const char*()>("fake_cuda_calls")(); }

  /// Of the product of 4 rows, with a tensor map of A, as `change` leaves it.
  template <typename Change>
  RunSettings bundle_of(Change change) {
    json kernel = lehr::testing::product_kernel(4, 1, true);
    kernel["workload"] = to_text(parse_workload("gemm m=4 n=8 k=4"));
    kernel["params"][0]["tensor_map"] = {{"type", 7},     {"dims", {4, 4}},  {"stride_bytes", {16}},
                                         {"box", {4, 2}}, {"steps", {1, 1}}, {"swizzle", 0}};
    change(kernel);
    add_product(folder_, kernel);
    folder_.seal();
    std::filesystem::copy_file(LEHR_BUNDLE_LIBRARY, folder_.path() + "/liblehr_bundle.so");
    RunSettings settings;
    settings.bundle = folder_.path();
    return settings;
  }
  static std::size_t count(const std::string& text, const std::string& word) {
    std::size_t found = 0;
    for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
    return found;
  }

  BundleFolder folder_;
  CudaBundleRunner runner_{{LEHR_FAKE_LIBCUDA, LEHR_FAKE_LIBCUDA}};

 private:
  void* fake_;
};

TEST_F(CudaParticipant, IsCheckedWithBothKindsOfMapsAndTimed) {
  const RunSettings settings = bundle_of([](json&) {});
  runner_.prepare(problem_for(parse_workload("gemm m=4 n=8 k=4"), 1), settings);
  EXPECT_EQ(count(calls(), "cuTensorMapEncodeTiled"), 1u);
  const std::variant<Checked, Fault> checked = runner_.check(0);
  ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
  EXPECT_EQ(std::get<Checked>(checked).note, "gemm_4_8_4");
  EXPECT_EQ(count(calls(), "cuTensorMapEncodeTiled"), 2u);
  EXPECT_EQ(count(calls(), "cuLaunchKernelEx"), 2u);
  const std::variant<Samples, Fault> samples = runner_.time(0, {});
  ASSERT_TRUE(std::holds_alternative<Samples>(samples)) << std::get<Fault>(samples).failure.text;
  EXPECT_THAT(calls(), HasSubstr("cuGraphLaunch"));
}

TEST_F(CudaParticipant, BringsWorkspaces) {
  const RunSettings settings = bundle_of([](json&) {});
  runner_.prepare(problem_for(parse_workload("gemm m=3 n=8 k=4"), 1), settings);
  const std::variant<Checked, Fault> checked = runner_.check(0);
  ASSERT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
  EXPECT_THAT(calls(), HasSubstr("cuMemcpyDtoDAsync")) << "it is padded";
}

TEST_F(CudaParticipant, WrongOnesAreFound) {
  const RunSettings settings = bundle_of([](json& kernel) { kernel["name"] = "gemm_4_8_3"; });
  runner_.prepare(problem_for(parse_workload("gemm m=4 n=8 k=4"), 1), settings);
  const std::variant<Checked, Fault> checked = runner_.check(0);
  ASSERT_TRUE(std::holds_alternative<Fault>(checked));
  EXPECT_EQ(std::get<Fault>(checked).failure.kind, FailureKind::kWrongResult);
}

TEST_F(CudaParticipant, WhatIsNotServedIsSaid) {
  const RunSettings settings = bundle_of([](json&) {});
  const auto said = [&](const char* workload) {
    try {
      runner_.prepare(problem_for(parse_workload(workload), 1), settings);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(said("gemm m=4 n=8 k=5"),
              HasSubstr("the bundle does not serve this: the bundle has no kernel for"));
}

}  // namespace
}  // namespace lehr::bundle
