// Tests of several devices in one process, each in a thread of its own, for a program that has other threads
// than ours.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <filesystem>
#include <latch>
#include <string>
#include <thread>
#include <vector>

#include "codegen/emit.h"
#include "measure/system/affinity.h"
#include "templates/catalog.h"
#include "tests/support/problem_for.h"
#include "tune/open_device.h"

namespace lehr::testing {
namespace {

constexpr std::size_t kThreads = 8;

/// The state that a program shares with its libraries.
struct OfTheProcess {
  std::vector<void*> handlers;
  std::vector<int> cpus = affinity();
  std::string folder = std::filesystem::current_path();
  sigset_t blocked{};

  OfTheProcess() {
    sigprocmask(SIG_SETMASK, nullptr, &blocked);
    for (int number = 1; number < NSIG; ++number) {
      struct sigaction now = {};
      sigaction(number, nullptr, &now);
      handlers.push_back(reinterpret_cast<void*>(now.sa_handler));
    }
  }
  bool operator==(const OfTheProcess& other) const {
    return handlers == other.handlers && cpus == other.cpus && folder == other.folder &&
           sigisemptyset(&blocked) == sigisemptyset(&other.blocked);
  }
};

/// Opens the CPU and measures the first default twice; with `stopped` an end was asked for before.
std::vector<Outcome> measured(std::size_t thread, bool stopped, std::latch& all_are_open,
                              std::shared_ptr<Supervised>& supervisor) {
  const std::size_t size = 16 + thread;
  const Workload workload = parse_workload(fmt::format("gemm m={0} n={0} k={0}", size));
  std::atomic<bool> stop = false;
  DeviceChoice choice;
  choice.automatic = false;
  choice.target = Target::kCpu;
  choice.threads = 1;
  const OpenDevice open = open_device(
      choice, workload,
      {.tools = {.program = LEHR_MEASURE_WORKER}, .jobs = 1, .timings = Timings::kShort, .stop = &stop});
  supervisor = open.supervisor;
  all_are_open.arrive_and_wait();
  stop = stopped;
  const KernelSpace kernels = kernel_space(workload, open.device.limits);
  const std::vector<Source> sources(2, emit(kernels.lower(kernels.defaults.front())));
  open.measurer->prepare(problem_for(workload, thread));
  return open.measurer->measure(sources, {});
}

TEST(Threads, EachHaveADeviceAndAFlagOfTheirOwn) {
  const OfTheProcess before;
  std::array<std::vector<Outcome>, kThreads> outcomes;
  std::array<std::shared_ptr<Supervised>, kThreads> supervisors;
  const auto is_stopped = [](std::size_t thread) { return thread == 2 || thread == 5; };
  {
    std::latch all_are_open(kThreads);
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < kThreads; ++i)
      threads.emplace_back(
          [&, i] { outcomes[i] = measured(i, is_stopped(i), all_are_open, supervisors[i]); });
  }
  for (std::size_t i = 0; i < kThreads; ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(supervisors[i], supervisors[0]);
    ASSERT_EQ(outcomes[i].size(), 2U);
    for (const Outcome& outcome : outcomes[i]) {
      const auto* failure = std::get_if<Failure>(&outcome);
      EXPECT_EQ(failure != nullptr, is_stopped(i)) << (failure != nullptr ? failure->text : "");
      EXPECT_TRUE(failure == nullptr || failure->kind == FailureKind::kInterrupted) << failure->text;
    }
  }
  supervisors = {};
  EXPECT_EQ(Supervised::living(), nullptr);
  EXPECT_EQ(before, OfTheProcess());
}

}  // namespace
}  // namespace lehr::testing
