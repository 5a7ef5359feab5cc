// The sampling loop of the CPU runners.
#include "measure/core/sampling.h"

#include <time.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "measure/core/sample_limits.h"

namespace lehr {
namespace {

using Clock = std::chrono::steady_clock;
double microseconds_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

double process_cpu_us() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e6 + static_cast<double>(now.tv_nsec) * 1e-3;
}

}  // namespace

Samples sample_calls(const std::function<void()>& call, const SampleRequest& request, int threads,
                     const std::function<void()>& evict) {
  // The warm-up also decides how many calls make a sample. A short kernel's first call is mostly cache
  // misses, so a short kernel makes several warm-up calls.
  constexpr double kWarmUpUs = 100;
  constexpr int kWarmUpCalls = 10;
  // A call of this length has warmed itself up: filling a cache of 32 MB takes a hundredth of it.
  constexpr double kNoWarmUpUs = 2e5;
  const auto timed = [&](long calls) {
    const Clock::time_point start = Clock::now();
    for (long i = 0; i < calls; ++i) call();
    return std::max(microseconds_since(start) / static_cast<double>(calls), 1e-3);
  };
  Samples result;
  const double first = timed(1);
  const double per_call = first < kWarmUpUs ? std::min(first, timed(kWarmUpCalls)) : first;
  const long calls = evict ? 1 : std::max(1L, std::lround(std::ceil(request.sample_us / per_call)));

  const double cpu_before = process_cpu_us();
  const Clock::time_point start = Clock::now();
  double total = 0;
  if (!evict && first >= kNoWarmUpUs) {
    result.us.push_back(first);
    total = first;
  }
  while (true) {
    if (enough(result, total, request)) break;
    const Clock::time_point sample_start = Clock::now();
    if (evict) evict();
    result.us.push_back(timed(calls));
    total += microseconds_since(sample_start);
  }
  result.hopeless = is_hopeless(result, request);
  const double wall = microseconds_since(start);
  if (wall > 0) result.cpu_share = (process_cpu_us() - cpu_before) / (wall * threads);
  return result;
}

}  // namespace lehr
