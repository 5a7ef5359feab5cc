// Tests of `lehr tune --trials 0`: its prediction, where that comes from, and that nothing is run or stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "support.h"

namespace lehr::testing {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

const std::string kFlags = " --device cpu --threads 1 ";

std::string bytes_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(Untuned, WithoutALogIsTheDefault) {
  const Scratch scratch;
  const std::string command = "tune gemm --m 24 --n 20 --k 16 --trials 0" + kFlags;
  const json found = parsed(run_lehr(words(command + "--json"), scratch.path()));
  for (const char* field : {"workload", "device", "identity", "target", "config", "template", "from",
                            "source", "trials", "record", "contested", "expected_us", "expected_us_interval",
                            "gflops", "loss", "measured", "database"})
    EXPECT_TRUE(found.contains(field)) << field;
  EXPECT_EQ(found["from"], "prior");
  EXPECT_EQ(found["measured"], 0);
  EXPECT_GT(found["expected_us"].get<double>(), 0);
  EXPECT_GT(found["loss"].get<double>(), 0);
  const Ran text = run_lehr(words(command), scratch.path());
  EXPECT_EQ(text.code, 0);
  EXPECT_EQ(text.err, "");
  for (const char* line : {"config    gemm", "from      the prior", "expected  ", "loss      at most",
                           "nothing is stored", "lehr.db, which is not there"})
    EXPECT_THAT(text.out, HasSubstr(line));
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

TEST(Untuned, GoesByTheLogAndThenByItsOtherTasks) {
  const Scratch scratch;
  const auto lehr = [&](const std::string& line) { return run_lehr(words(line), scratch.path()); };
  const std::string tune = "tune gemm --n 20 --k 16" + kFlags + "--json ";
  const Summary tuned = record_log(scratch.path() / "lehr.db", "gemm m=24 n=20 k=16", 4);
  const std::string before = bytes_of(scratch.path() / "lehr.db");

  const json own = parsed(lehr(tune + "--m 24 --trials 0"));
  EXPECT_EQ(own["from"], "log");
  EXPECT_EQ(own["config"], to_text(tuned.best->config));
  EXPECT_EQ(own["expected_us"], tuned.verdict.best.us);
  EXPECT_EQ(own["contested"], true);
  EXPECT_EQ(own["trials"], 4);

  const json other = parsed(lehr(tune + "--m 48 --trials 0"));
  EXPECT_EQ(other["from"], "other tasks");
  EXPECT_EQ(other["trials"], 4);
  EXPECT_GE(other["loss"], own["loss"]);
  EXPECT_EQ(parsed(lehr(tune + "--m 48 --trials 0 --transfer off"))["from"], "prior");
  EXPECT_EQ(parsed(lehr(tune + "--m 24 --trials 0 --fresh --transfer off"))["from"], "prior");

  const json both = parsed(lehr(tune + "--m 24,48 --trials 0"));
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both[0], own);
  EXPECT_EQ(both[1], other);

  EXPECT_EQ(bytes_of(scratch.path() / "lehr.db"), before);
  EXPECT_EQ(parsed(lehr("best --json")).size(), 1U);
}

TEST(Untuned, OfWhatNoFamilyServesIsNotFound) {
  const Scratch scratch;
  const Ran ran =
      run_lehr(words("tune gemm --m 8 --n 8 --k 8 --a e4m3 --layout nt --trials 0" + kFlags), scratch.path());
  EXPECT_EQ(ran.code, 3) << ran.err;
  EXPECT_EQ(ran.out, "");
  EXPECT_TRUE(std::filesystem::is_empty(scratch.path()));
}

}  // namespace
}  // namespace lehr::testing
