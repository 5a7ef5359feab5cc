// Tests of checks on the device, against a fake driver whose kernels are known by name: a planted fault is
// found, few bytes come back, and a check that does not work is not trusted.
#include "measure/cuda/cuda_checker.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <fstream>

#include "measure/cuda/cuda_runner.h"
#include "measure/system/temp_dir.h"
#include "pair_kind.h"
#include "tune/workload_problem.h"
#include "workload/reference.h"

namespace lehr {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

double cpu_s() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

class ChecksOnAFakeDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    library_ = dlopen(LEHR_FAKE_CUDA_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
    function<void(std::size_t)>("fake_cuda_reset")(std::size_t{1} << 30);
    break_check("");
    tell({}, {});
    cubin_ = directory_.path() + "/some.cubin";
    std::ofstream(cubin_) << "FAKE CUBIN";
  }
  void TearDown() override { dlclose(library_); }

  template <typename Signature>
  Signature* function(const char* name) {
    return reinterpret_cast<Signature*>(dlsym(library_, name));
  }
  std::size_t bytes_back() { return function<std::size_t()>("fake_cuda_bytes_back")(); }
  double work_s() { return function<double()>("fake_cuda_work_s")(); }
  void break_check(const char* what) { function<void(const char*)>("fake_cuda_break_check")(what); }
  void tell(const std::vector<std::int64_t>& elements, const std::vector<float>& values) {
    function<void(const long*, const float*, std::size_t)>("fake_cuda_tell")(elements.data(), values.data(),
                                                                             elements.size());
  }

  Candidate kernel(const std::string& kind, const Workload& workload) const {
    // A convolution is to the fake driver a product of its pixels, whose values it is given.
    const bool product = workload.op() == Operator::kGemm;
    const std::int64_t rows = rows_of(workload), elements = tensors_of(workload)[2].elements;
    Candidate candidate;
    candidate.path = cubin_;
    candidate.entry = fmt::format("{}_{}_{}_{}_{}", kind, name_of(tensors_of(workload)[0].type), rows,
                                  elements / rows, product ? workload.gemm().k : 1);
    candidate.launch.block = {32, 1, 1};
    return candidate;
  }
  RunSettings settings(const Workload& workload) const {
    RunSettings settings;
    settings.check = {cubin_, kernel("plain", workload), rows_of(workload)};
    return settings;
  }
  static std::int64_t rows_of(const Workload& workload) {
    if (workload.op() == Operator::kGemm) return workload.gemm().m;
    const Conv2d& conv = workload.conv2d();
    return conv.n * conv.out_h() * conv.out_w();
  }
  void prepare(CudaRunner& runner, const Workload& workload) {
    runner.prepare(asked_problem(workload, 3), settings(workload));
  }
  /// Returns the fault of a kernel; "" where the kernel is right.
  std::string fault_of_kernel(CudaRunner& runner, const std::string& kind, const Workload& workload) {
    EXPECT_TRUE(std::holds_alternative<Resources>(runner.load(1, kernel(kind, workload))));
    const auto checked = runner.check(1);
    const auto* fault = std::get_if<Fault>(&checked);
    return fault == nullptr ? "" : fault->failure.text;
  }

  void* library_ = nullptr;
  TempDir directory_;
  std::string cubin_;
};

const Workload& small() {
  static const Workload workload = parse_workload("gemm m=37 n=53 k=29");
  return workload;
}
const Workload& narrow() {
  static const Workload workload = parse_workload("gemm m=40 n=50 k=64 a=bf16:row b=bf16:row c=bf16:row");
  return workload;
}

TEST_F(ChecksOnAFakeDevice, FindWhatIsWrongAndNothingElse) {
  for (const Workload& workload : {small(), narrow()}) {
    CudaRunner runner({LEHR_FAKE_CUDA_DRIVER, ""});
    prepare(runner, workload);
    EXPECT_EQ(runner.checked_by(), "device");
    const auto found = [&](const char* kind) { return fault_of_kernel(runner, kind, workload); };
    const std::int64_t elements = workload.gemm().m * workload.gemm().n;
    EXPECT_EQ(found("answer"), "");
    EXPECT_THAT(found("wrong"), StartsWith(fmt::format("element {} is 1000, expected ", elements / 2)));
    EXPECT_THAT(found("wrong"), HasSubstr(fmt::format("1 of {} compared elements wrong", elements)));
    EXPECT_EQ(found("answer"), "");
    EXPECT_THAT(found("unwritten"),
                StartsWith(fmt::format("left 1 of {} output elements unwritten", elements)));
    EXPECT_THAT(found("nan"), StartsWith(fmt::format("element {} of the output is NaN", elements / 3)));
    EXPECT_THAT(found("behind"), HasSubstr("it wrote outside argument 2: "));
    EXPECT_THAT(found("behind"), HasSubstr(" bytes behind its end"));
    EXPECT_THAT(found("before"), HasSubstr(" bytes before its begin"));
    EXPECT_THAT(found("modifies"), HasSubstr("it modified its input (argument 0)"));
    EXPECT_EQ(found("answer"), "");
    EXPECT_THAT(found("onto"), HasSubstr("it wrote outside its arguments, onto what is expected of it"));
    // No kernel is blamed for another kernel's fault.
    EXPECT_EQ(found("answer"), "");
    EXPECT_FALSE(runner.damage_by_another());
    EXPECT_EQ(runner.checked_by(), "device");
    EXPECT_TRUE(std::holds_alternative<Checked>(runner.check_by_host(1)));
  }
}

TEST_F(ChecksOnAFakeDevice, AreProvenOnOtherInputs) {
  CudaRunner runner({LEHR_FAKE_CUDA_DRIVER, ""});
  prepare(runner, small());
  Candidate product = kernel("gemm", small());
  product.entry = "gemm_37_53_29";
  ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(1, product)));
  for (const Problem& problem : {other_problem(asked_problem(small(), 3)), asked_problem(small(), 3),
                                 other_problem(asked_problem(small(), 3))}) {
    runner.replace_inputs(problem);
    EXPECT_EQ(runner.checked_by(), "device");
    EXPECT_TRUE(std::holds_alternative<Checked>(runner.check(1)));
  }
}

// One output is written, one changed in place, one argument is passed by value; the device checks all of it.
TEST_F(ChecksOnAFakeDevice, SeeSeveralOutputsAndPutBackWhatIsChangedInPlace) {
  const auto kernel = [&](const std::string& kind) {
    Candidate candidate;
    candidate.path = cubin_;
    candidate.entry = fmt::format("pair{}_{}_{}", kind, testing::kPairRows, testing::kPairColumns);
    candidate.launch.block = {32, 1, 1};
    return candidate;
  };
  CudaRunner runner({LEHR_FAKE_CUDA_DRIVER, ""});
  RunSettings settings;
  settings.check = {cubin_, kernel("plain"), testing::kPairRows};
  const ProblemKind& kind = testing::pair_kind();
  const Problem problem = kind.ask(kind, "pair", 3);
  const auto found = [&](const char* what) {
    EXPECT_TRUE(std::holds_alternative<Resources>(runner.load(1, kernel(what))));
    const auto checked = runner.check(1);
    const auto* fault = std::get_if<Fault>(&checked);
    return fault == nullptr ? "" : fault->failure.text;
  };
  for (const bool device : {true, false}) {
    runner.prepare(problem, device ? settings : RunSettings{});
    EXPECT_EQ(runner.checked_by(), device ? "device" : "host");
    for (int again = 0; again < 3; ++again) EXPECT_EQ(found("answer"), "");
    EXPECT_THAT(found("wrong"), HasSubstr(fmt::format("element {} of z is ", testing::kPairRows - 1)));
    EXPECT_THAT(found("overwrites"), HasSubstr(" of z is "));
    EXPECT_THAT(found("unwritten"), HasSubstr("left 1 of 30 elements of y unwritten"));
    EXPECT_EQ(found("answer"), "");
    EXPECT_TRUE(std::holds_alternative<Checked>(runner.check_by_host(1)));
    // The results of calls that followed one another in place are not looked at.
    ASSERT_TRUE(std::holds_alternative<Samples>(runner.time(1, {.min_total_us = 0, .max_total_us = 0})));
    EXPECT_TRUE(std::holds_alternative<Checked>(runner.check_left(1)));
    const auto outputs = runner.output();
    EXPECT_EQ(std::get<std::vector<RunOutput>>(outputs).size(), 2U);
    runner.replace_inputs(other_problem(problem));
    EXPECT_EQ(found("answer"), "");
  }
}

// Each of the kernels in turn does not see what it should. Then the host checks, and the session says so.
TEST_F(ChecksOnAFakeDevice, AreNotTrustedWhereTheyDoNotFindWhatIsPlanted) {
  for (const char* what : {"wrong", "nan", "poison", "sum", "expected", "total", "inputs", "plain", "hole"}) {
    break_check(what);
    CudaRunner runner({LEHR_FAKE_CUDA_DRIVER, ""});
    prepare(runner, small());
    EXPECT_THAT(runner.checked_by(), StartsWith("host: the device's check is not to be trusted: ")) << what;
    EXPECT_THAT(fault_of_kernel(runner, "modifies", small()),
                HasSubstr("it modified its input (argument 0)"));
    EXPECT_THAT(fault_of_kernel(runner, "unwritten", small()), StartsWith("left 1 of")) << what;
  }
}

// Where f64 is slow the first and the last band must do, also after the expected values were damaged.
TEST_F(ChecksOnAFakeDevice, CompareAsManyBandsAsThereIsTimeFor) {
  function<void(double)>("fake_cuda_plain_us")(0.3e6);
  CudaRunner runner({LEHR_FAKE_CUDA_DRIVER, ""});
  prepare(runner, small());
  EXPECT_EQ(runner.checked_by(), "device");
  const auto found = [&](const char* kind) { return fault_of_kernel(runner, kind, small()); };
  EXPECT_EQ(found("answer"), "");
  EXPECT_EQ(found("wrong"), "");  // in the middle, where no value is known
  EXPECT_THAT(found("nan"), StartsWith("element 653 of the output is NaN"));
  EXPECT_THAT(found("unwritten"), StartsWith("left 1 of 1961 output elements unwritten"));
  EXPECT_THAT(found("onto"), HasSubstr("onto what is expected of it"));
  EXPECT_EQ(found("answer"), "");
  EXPECT_EQ(runner.checked_by(), "device");
  EXPECT_TRUE(std::holds_alternative<Checked>(runner.check_by_host(1)));
}

TEST_F(ChecksOnAFakeDevice, WithoutTheirKernelsAreTheHosts) {
  CudaRunner runner({LEHR_FAKE_CUDA_DRIVER, ""});
  RunSettings none = settings(small());
  none.check.kernels = directory_.path() + "/none";
  runner.prepare(asked_problem(small(), 3), none);
  EXPECT_EQ(runner.checked_by(), "host: its kernels cannot be read");
  runner.prepare(asked_problem(small(), 3), {});
  EXPECT_EQ(runner.checked_by(), "host");
}

// For a large product and for one row, a check brings back no more than for a small one. The host has work
// with them only once, when the problem is prepared. The device's work, which is a fake's on the same
// processor, is the measure.
TEST_F(ChecksOnAFakeDevice, BringLittleBackAndLeaveTheHostAlone) {
  for (const char* text :
       {"gemm m=4096 n=4096 k=4096 a=bf16:row b=bf16:row c=bf16:row",
        "gemm m=1 n=4096 k=4096 a=bf16:row b=bf16:row c=bf16:row",
        "conv2d n=32 h=56 w=56 c=64 k=64 r=3 s=3 pad=1 layout=nhwc x=bf16 f=bf16 y=bf16"}) {
    const Workload workload = parse_workload(text);
    const std::vector<std::int64_t> elements = telling_elements(workload, 0, 10'000'000);
    tell(elements, reference_at(workload, 3, 0, elements));
    CudaRunner runner({LEHR_FAKE_CUDA_DRIVER, ""});
    double host_s = -cpu_s(), device_s = -work_s();
    prepare(runner, workload);
    host_s += cpu_s();
    device_s += work_s();
    EXPECT_EQ(runner.checked_by(), "device") << text;
    EXPECT_LT(host_s - device_s, device_s) << "CPU time of the host, " << text;

    ASSERT_TRUE(std::holds_alternative<Resources>(runner.load(1, kernel("answer", workload))));
    const std::size_t before = bytes_back();
    host_s = -cpu_s();
    device_s = -work_s();
    constexpr int kChecks = 3;
    for (int i = 0; i < kChecks; ++i) {
      EXPECT_FALSE(runner.damage_by_another());
      const auto checked = runner.check(1);
      EXPECT_TRUE(std::holds_alternative<Checked>(checked)) << std::get<Fault>(checked).failure.text;
    }
    EXPECT_LE(bytes_back() - before, kChecks * 4096U) << text;
    EXPECT_LT(host_s + cpu_s() - device_s - work_s(), device_s + work_s()) << text;
  }
}

}  // namespace
}  // namespace lehr
