// Tests of which binaries stay for the finals, and that no file is left behind.
#include "measure/worker/kept_binaries.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "measuring.h"

namespace lehr {
namespace {

using testing::local_options;
using testing::right_source;
using testing::square_problem;

using KeepingBinaries = testing::Measuring;

TEST(KeptBinaries, AreTheFastestAndThePinnedOnesAndOneOfEachText) {
  const TempDir directory;
  const std::string folder = directory.path() + "/binaries";
  std::filesystem::create_directory(folder);
  int files = 0;
  const auto binary = [&] {
    const std::string path = folder + "/" + std::to_string(files++);
    std::ofstream(path) << "a kernel";
    return Binary{path, "", {}};
  };
  const auto left = [&] {
    const std::filesystem::directory_iterator all(folder);
    return std::distance(begin(all), end(all));
  };
  const auto named = [](const char* text) {
    Source source;
    source.text = text;
    return source;
  };
  KeptBinaries kept(2);
  kept.keep(named("reference"), binary(), 90, true);
  kept.keep(named("slow"), binary(), 9, false);
  kept.keep(named("fast"), binary(), 1, false);
  EXPECT_NE(kept.find(named("slow")), nullptr);
  kept.keep(named("fair"), binary(), 5, false);
  EXPECT_EQ(kept.find(named("slow")), nullptr);
  kept.keep(named("slower"), binary(), 10, false);
  EXPECT_EQ(kept.find(named("slower")), nullptr);
  const std::string path = kept.find(named("fair"))->path;
  kept.keep(named("fair"), binary(), 0.5, false);
  EXPECT_EQ(kept.find(named("fair"))->path, path);
  kept.keep(named("fine"), binary(), 0.7, false);  // fast is the slowest now
  EXPECT_EQ(kept.find(named("fast")), nullptr);
  EXPECT_NE(kept.find(named("reference")), nullptr);
  EXPECT_EQ(left(), 3);
  kept.clear();
  EXPECT_EQ(kept.find(named("fair")), nullptr);
  EXPECT_EQ(left(), 0);
}

TEST_F(KeepingBinaries, SparesTheFinalsTheirCompilations) {
  LocalOptions options = local_options();
  options.kept_binaries = 2;
  LocalMeasurer measurer = make(options);
  measurer.prepare(square_problem());
  const std::vector<Source> sources = {right_source(8), right_source(1), right_source(30), right_source(2)};
  measurer.measure(sources, {});
  EXPECT_EQ(measurer.spent().kernels, 4);
  // The first one is the reference kernel, the second and the fourth are the fastest.
  const std::vector<Source> finalists = {sources[0], sources[1], sources[3]};
  for (int contest = 0; contest < 2; ++contest)
    for (const ContestEntry& entry : measurer.contest(finalists, {}, {}, {.wanted_s = 0.1}))
      EXPECT_FALSE(entry.round_us.empty()) << entry.missing;
  EXPECT_TRUE(std::holds_alternative<Repetition>(measurer.repeat(sources[1])));
  EXPECT_EQ(measurer.spent().kernels, 4);
  for (const ContestEntry& entry : measurer.contest(sources, {}, {}, {.wanted_s = 0.1}))
    EXPECT_FALSE(entry.round_us.empty()) << entry.missing;
  EXPECT_EQ(measurer.spent().kernels, 5);
  EXPECT_TRUE(std::holds_alternative<Timing>(measurer.measure(sources, {})[0]));
  measurer.prepare(square_problem());
  measurer.contest(finalists, {}, {}, {.wanted_s = 0.1});
  EXPECT_EQ(measurer.spent().kernels, 12);
}

}  // namespace
}  // namespace lehr
