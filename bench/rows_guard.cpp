// What it costs a CPU kernel to be told the number of rows: schedules of a product of m rows, each as a
// kernel of just m and as one of any number up to m, in turn in one contest.
//   rows_guard LEHR [--seconds S] [M N K]...
// LEHR: the program, which the kernels run in. Without sizes: 512^3 and 64 x 1000 x 512.
#include <fmt/core.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/rng.h"
#include "codegen/emit.h"
#include "measure/core/ratio.h"
#include "templates/catalog.h"
#include "tune/open_device.h"
#include "tune/task.h"

namespace {

using namespace lehr;

constexpr int kSampled = 4;  // schedules beside the default

/// Of gemm_cpu: the default, then sampled ones.
std::vector<Point> schedules(const KernelSpace& kernels) {
  std::vector<Point> points = {kernels.defaults.front()};
  Rng rng(1);
  while (points.size() <= kSampled) points.push_back(kernels.space.sample(rng));
  return points;
}

void compare(const std::string& program, const std::string& sizes, const std::string& most, double seconds) {
  const Workload fixed = parse_workload("gemm m=" + sizes), any = parse_workload("gemm m=" + most);
  DeviceChoice cpu;
  cpu.automatic = false;
  cpu.target = Target::kCpu;
  OpenOptions options;
  options.tools.program = program;
  options.tools.path = {"/usr/local/bin", "/usr/bin", "/bin"};
  const OpenDevice device = open_device(cpu, fixed, options);
  const KernelSpace kernels = kernel_space(any, device.device.limits);
  device.measurer->prepare(asked_problem(fixed, 1), other_problem(fixed, 1));
  for (const Point& point : schedules(kernels)) {
    const Config config = kernels.space.config_of(point);
    const std::vector<Source> sources = {emit(lower(fixed, config, device.device.limits)),
                                         emit(lower(any, config, device.device.limits))};
    const std::vector<Outcome> outcomes = device.measurer->measure(sources, {});
    for (const Outcome& outcome : outcomes)
      if (const auto* failure = std::get_if<Failure>(&outcome)) throw_environment("{}", failure->text);
    const std::vector<Challenger> told = {{"told", "", sources[1]}};
    const std::vector<ContestEntry> entries =
        device.measurer->contest({sources.data(), 1}, told, {}, seconds);
    const Ratio ratio = speedup_over(entries[1], entries[0]);
    fmt::print("{:<24}{:10.1f} us {:8.4f} ({:.4f} to {:.4f})  {}\n", sizes, entries[0].time_us, ratio.value,
               ratio.interval.low, ratio.interval.high, to_text(config));
  }
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> given(argv + 1, argv + argc);
  if (given.empty()) return fmt::print(stderr, "usage: rows_guard LEHR [--seconds S] [M N K]...\n"), 2;
  const std::string program = given.front();
  given.erase(given.begin());
  double seconds = 4;
  if (given.size() > 1 && given[0] == "--seconds") {
    seconds = std::atof(given[1].c_str());
    given.erase(given.begin(), given.begin() + 2);
  }
  if (given.empty()) given = {"512", "512", "512", "64", "1000", "512"};
  fmt::print("{:<24}{:>13} {:>8}\n", "m x n x k", "of just m", "speed of any number");
  try {
    for (std::size_t i = 0; i + 2 < given.size(); i += 3)
      for (const char* b : {"f32", "f32:row:constant"}) {
        const std::string rest = fmt::format("{} n={} k={} b={}", given[i], given[i + 1], given[i + 2], b);
        compare(program, rest, ".." + rest, seconds);
      }
  } catch (const Error& error) {
    fmt::print(stderr, "rows_guard: {}\n", error.what());
    return 1;
  }
}
