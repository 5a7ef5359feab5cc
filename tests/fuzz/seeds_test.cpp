// Runs the fuzzing targets without a fuzzer: on every committed seed, and on changes of the seeds: kChanges
// of each, or as many as LEHR_FUZZ_SECONDS allow.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/rng.h"
#include "tests/fuzz/mutate.h"
#include "tests/fuzz/targets.h"
#include "tests/support/seed.h"

namespace lehr::test {
namespace {

constexpr std::size_t kChanges = 5000;
constexpr std::size_t kInputsPerLook = 16;  // inputs between two looks at the clock

std::vector<std::string> seeds_of(std::string_view target) {
  std::vector<std::string> seeds;
  const std::filesystem::path folder = std::filesystem::path(LEHR_SOURCE_DIR) / "tests/fuzz/seeds" / target;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream file(entry.path(), std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::ranges::sort(seeds);
  return seeds;
}

// The running target and input, and the file in which a dying process leaves the input.
std::string running, finding;

void leave_input(int signal) {
  const int file = ::open(finding.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (::write(file, running.data(), running.size()) == static_cast<ssize_t>(running.size()))
    std::fprintf(stderr, "the input that ended this is %s\n", finding.c_str());
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

class FuzzSeeds : public ::testing::TestWithParam<FuzzTarget> {
 protected:
  FuzzSeeds() {
    finding = std::string(LEHR_BINARY_DIR "/fuzz-finding-") + std::string(GetParam().name);
    for (const int signal : {SIGABRT, SIGSEGV, SIGFPE, SIGBUS, SIGILL}) std::signal(signal, leave_input);
  }
  void run(std::string input) {
    running = std::move(input);
    EXPECT_NO_THROW(GetParam().run(running)) << "input:\n" << running;
  }
};

TEST_P(FuzzSeeds, AndTheirNeighboursAreAnswered) {
  using Clock = std::chrono::steady_clock;
  const char* const seconds_text = std::getenv("LEHR_FUZZ_SECONDS");
  const auto end = Clock::now() + std::chrono::seconds(seconds_text ? std::atoi(seconds_text) : 0);
  Rng rng(lehr::testing::test_seed(1));
  const std::vector<std::string> seeds = seeds_of(GetParam().name);
  ASSERT_FALSE(seeds.empty());
  for (const std::string& each : seeds) run(each);
  std::size_t inputs = 0;
  while (!HasFailure() &&
         (inputs < kChanges * seeds.size() || inputs % kInputsPerLook != 0 || Clock::now() < end)) {
    run(mutated(seeds, rng));
    ++inputs;
  }
  std::printf("%zu changed inputs\n", inputs);
}

INSTANTIATE_TEST_SUITE_P(All, FuzzSeeds, ::testing::ValuesIn(fuzz_targets().begin(), fuzz_targets().end()),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace lehr::test
