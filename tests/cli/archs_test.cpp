// Tests of every architecture of `--arch`, and of which NVRTC is taken. The NVRTC is that of
// tests/measure/fake_nvrtc.cpp, a 13.0; the driver is that of tests/measure/fake_cuda_driver.cpp, whose
// version the tests choose.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"
#include "target/cuda/archs.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class EveryArch : public ::testing::TestWithParam<std::string> {
 protected:
  Ran lehr(const std::string& line) {
    return run_lehr(words(line + " --arch " + GetParam()), scratch_.path(), {},
                    {"LD_LIBRARY_PATH=" LEHR_FAKE_NVRTC});
  }

 private:
  Scratch scratch_;
};

TEST_P(EveryArch, IsTakenByShowAndCompile) {
  const std::string f16 = " gemm --m 256 --n 256 --k 256 --a f16:row --b f16:column --c f16:row";
  const Ran source = lehr("show" + f16 + " --as source");
  EXPECT_EQ(source.code, 0) << source.err;
  EXPECT_THAT(source.out, HasSubstr("mma"));
  const json features = parsed(lehr("show" + f16 + " --as features --json"));
  EXPECT_EQ(features["arch"], GetParam());
  const Ran sample = lehr("show" + f16 + " --sample 3 --as ast");
  EXPECT_EQ(sample.code, 0) << sample.err;
  const json compiled = parsed(lehr("compile gemm --m 256 --n 256 --k 256 --samples 2 --json"));
  EXPECT_EQ(compiled["arch"], GetParam());
  EXPECT_THAT(compiled["compiler"].get<std::string>(), HasSubstr("--gpu-architecture=" + GetParam() + " "));
  EXPECT_EQ(lehr("show conv2d --h 14 --w 14 --c 32 --k 32 --r 3 --pad 1").code, 0);
}

TEST_P(EveryArch, HasAReasonForWhatItDoesNotServe) {
  const Ran bf16 =
      lehr("show gemm --m 256 --n 256 --k 256 --a bf16:row --b bf16:column --c bf16:row --as source");
  const Ran f8 =
      lehr("show gemm --m 256 --n 256 --k 255 --a e4m3:row --b e4m3:column --c bf16:row --as source");
  const Limits limits = cuda_limits(GetParam());
  EXPECT_EQ(bf16.code, limits.has(Ability::kBF16) ? 0 : 1);
  if (bf16.code != 0) {
    EXPECT_THAT(bf16.err, HasSubstr("gemm_mma: mma.sync of bf16 needs sm_80 or newer, not " + GetParam()));
  }
  EXPECT_EQ(f8.code, limits.has(Ability::kMmaF8) ? 0 : 1);
  if (f8.code != 0) {
    EXPECT_THAT(f8.err, HasSubstr("gemm_mma: mma.sync of e4m3 needs sm_89 or newer, not " + GetParam()));
  }
}

INSTANTIATE_TEST_SUITE_P(Archs, EveryArch, ::testing::ValuesIn(known_cuda_archs()),
                         [](const auto& info) { return info.param; });

/// Returns the environment of a machine with a driver of that version, the fake NVRTC 13.0 and no other.
std::vector<std::string> machine(const Scratch& scratch, const std::string& driver) {
  std::filesystem::create_symlink(LEHR_FAKE_CUDA_DRIVER, scratch.path() / "libcuda.so.1");
  return {"LD_LIBRARY_PATH=" + scratch.path().string() + ":" LEHR_FAKE_NVRTC,
          "LEHR_FAKE_CUDA_VERSION=" + driver, "PATH=/usr/bin:/bin", "CUDA_HOME=", "CUDA_PATH="};
}

json finding(const Ran& doctor, const std::string& what) {
  const json document = parsed(doctor);
  for (const json& each : document["findings"])
    if (each["what"] == what) return each;
  return {};
}

TEST(NvrtcAndDriver, DoctorSaysWhatIsTakenAndWhy) {
  const Scratch scratch;
  const json nvrtc =
      finding(run_lehr(words("doctor --json"), scratch.path(), {}, machine(scratch, "13000")), "nvrtc");
  EXPECT_EQ(nvrtc["ok"], true);
  EXPECT_THAT(nvrtc["text"].get<std::string>(), HasSubstr("NVRTC 13.0 "));
  EXPECT_THAT(nvrtc["text"].get<std::string>(),
              HasSubstr("the newest whose code the driver loads, which serves CUDA 13.0"));
}

TEST(NvrtcAndDriver, WhereNoneFitsOneSentenceComesBeforeTheFirstTrial) {
  const Scratch scratch;
  const std::vector<std::string> environment = machine(scratch, "12040");
  const json nvrtc = finding(run_lehr(words("doctor --json"), scratch.path(), {}, environment), "nvrtc");
  if (nvrtc["ok"] == true) GTEST_SKIP() << "an NVRTC 12 is installed here: " << nvrtc["text"];
  const std::string reason = "the driver serves CUDA 12.4 and loads no code of NVRTC 13.0 (";
  EXPECT_THAT(nvrtc["text"].get<std::string>(), HasSubstr(reason));
  const Ran tuned = run_lehr(words("tune gemm --m 64 --n 64 --k 64 --device cuda --trials 4 --db log.db"),
                             scratch.path(), {}, environment);
  EXPECT_EQ(tuned.code, 2) << tuned.err;
  EXPECT_THAT(tuned.err, HasSubstr(reason));
  EXPECT_THAT(tuned.err, HasSubstr("nvidia-cuda-nvrtc-cu12"));
  EXPECT_THAT(tuned.out, ::testing::Not(HasSubstr("trials")));
}

}  // namespace
}  // namespace lehr::testing
