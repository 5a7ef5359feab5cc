// Measures peak rates. The library is compiled for the baseline architecture, so the kernels have target
// attributes.
#include "measure/host/peak.h"

#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstring>
#include <functional>
#include <thread>
#include <vector>

#include "measure/system/affinity.h"

#if defined(__x86_64__)
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace lehr {
namespace {

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Keeps a result alive without storing it.
template <typename T>
void keep(T& value) {
  asm volatile("" : "+m"(value));
}

/// Runs `steps` rounds of independent fused multiply-adds and returns the number of floating-point
/// operations. There are more independent chains than latency times throughput (4 cycles times 2 per cycle).
using FmaKernel = double (*)(std::int64_t steps);

#if defined(__x86_64__)
__attribute__((target("avx512f"))) double fma_avx512(std::int64_t steps) {
  constexpr int kChains = 16;
  __m512 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 x = _mm512_set1_ps(0.999F);
  const __m512 y = _mm512_set1_ps(0.001F);
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 16
    for (int i = 0; i < kChains; ++i) sums[i] = _mm512_fmadd_ps(sums[i], x, y);
  }
  for (int i = 1; i < kChains; ++i) sums[0] = _mm512_add_ps(sums[0], sums[i]);
  keep(sums[0]);
  return static_cast<double>(steps) * kChains * 16 * 2;
}

__attribute__((target("avx2,fma"))) double fma_avx2(std::int64_t steps) {
  constexpr int kChains = 12;
  __m256 sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 x = _mm256_set1_ps(0.999F);
  const __m256 y = _mm256_set1_ps(0.001F);
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 12
    for (int i = 0; i < kChains; ++i) sums[i] = _mm256_fmadd_ps(sums[i], x, y);
  }
  for (int i = 1; i < kChains; ++i) sums[0] = _mm256_add_ps(sums[0], sums[i]);
  keep(sums[0]);
  return static_cast<double>(steps) * kChains * 8 * 2;
}

double fma_sse2(std::int64_t steps) {
  // This CPU has no fused operation. It issues independent multiplications and additions at the same time.
  constexpr int kChains = 6;
  __m128 sums[kChains];
  __m128 products[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = products[i] = _mm_set1_ps(static_cast<float>(i));
  const __m128 x = _mm_set1_ps(0.999F);
  const __m128 y = _mm_set1_ps(0.001F);
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 6
    for (int i = 0; i < kChains; ++i) {
      products[i] = _mm_mul_ps(products[i], x);
      sums[i] = _mm_add_ps(sums[i], y);
    }
  }
  for (int i = 0; i < kChains; ++i) sums[0] = _mm_add_ps(sums[0], _mm_add_ps(sums[i], products[i]));
  keep(sums[0]);
  return static_cast<double>(steps) * kChains * 4 * 2;
}
#elif defined(__aarch64__)
double fma_neon(std::int64_t steps) {
  constexpr int kChains = 20;
  float32x4_t sums[kChains];
  for (int i = 0; i < kChains; ++i) sums[i] = vdupq_n_f32(static_cast<float>(i));
  const float32x4_t x = vdupq_n_f32(0.999F);
  const float32x4_t y = vdupq_n_f32(0.001F);
  for (std::int64_t step = 0; step < steps; ++step) {
#pragma GCC unroll 20
    for (int i = 0; i < kChains; ++i) sums[i] = vfmaq_f32(y, sums[i], x);
  }
  for (int i = 1; i < kChains; ++i) sums[0] = vaddq_f32(sums[0], sums[i]);
  keep(sums[0]);
  return static_cast<double>(steps) * kChains * 4 * 2;
}
#endif

FmaKernel kernel_for(std::string_view arch) {
#if defined(__x86_64__)
  if (arch == "avx512") return fma_avx512;
  if (arch == "avx2") return fma_avx2;
  if (arch == "sse2") return fma_sse2;
#elif defined(__aarch64__)
  if (arch == "neon") return fma_neon;
#endif
  (void)arch;
  return nullptr;
}

/// Runs `body(thread)` on `threads` pinned threads, `rounds` times, each time after a barrier. Returns the
/// seconds of the shortest round, from the first thread's start to the last thread's end. (The threads read
/// the clock themselves: a caller that waits for a busy core would read it too late.)
double best_round(int threads, int rounds, const std::function<void(int)>& body) {
  const std::vector<int> cpus = allowed_cpus();
  struct Span {
    Clock::time_point start;
    Clock::time_point end;
  };
  std::vector<std::vector<Span>> spans(static_cast<std::size_t>(threads));
  std::barrier gate(threads);
  std::vector<std::thread> team;
  team.reserve(static_cast<std::size_t>(threads));
  for (int thread = 0; thread < threads; ++thread) {
    std::vector<Span>& mine = spans[static_cast<std::size_t>(thread)];
    mine.resize(static_cast<std::size_t>(rounds));
    team.emplace_back([&, thread] {
      pin_to_cpus({cpus[static_cast<std::size_t>(thread) % cpus.size()]});
      for (Span& span : mine) {
        gate.arrive_and_wait();
        span.start = Clock::now();
        body(thread);
        span.end = Clock::now();
      }
    });
  }
  for (std::thread& thread : team) thread.join();
  double best = 0;
  for (std::size_t round = 0; round < static_cast<std::size_t>(rounds); ++round) {
    Span all = spans[0][round];
    for (const std::vector<Span>& one : spans) {
      all.start = std::min(all.start, one[round].start);
      all.end = std::max(all.end, one[round].end);
    }
    const double took = std::chrono::duration<double>(all.end - all.start).count();
    if (round == 0 || took < best) best = took;
  }
  return best;
}

}  // namespace

double measure_peak_gflops(int threads, std::string_view arch) {
  const FmaKernel kernel = kernel_for(arch);
  if (kernel == nullptr) return 0;
  kernel(20000);  // leaves the low-power state and the lower clock
  const Clock::time_point start = Clock::now();
  constexpr std::int64_t kProbe = 50000;
  kernel(kProbe);
  const double probe_s = std::max(seconds_since(start), 1e-7);
  const auto steps = static_cast<std::int64_t>(0.002 / probe_s * static_cast<double>(kProbe)) + 1;
  std::vector<double> operations(static_cast<std::size_t>(threads));
  const double best = best_round(
      threads, 6, [&](int thread) { operations[static_cast<std::size_t>(thread)] = kernel(steps); });
  double total = 0;
  for (double part : operations) total += part;
  return total / best / 1e9;
}

double measure_burst_gflops(int threads, std::string_view arch) {
  const FmaKernel kernel = kernel_for(arch);
  if (kernel == nullptr) return 0;
  constexpr std::int64_t kSteps = 1000;
  constexpr int kRounds = 4000;  // rounds of some microseconds each
  double best = 0;
  for (int round = 0; round < kRounds; ++round) {
    const Clock::time_point start = Clock::now();
    const double operations = kernel(kSteps);
    best = std::max(best, operations / std::max(seconds_since(start), 1e-9));
  }
  return threads * best / 1e9;
}

namespace {

/// Memory for a measurement, in large pages: with small pages most of the time would go to page faults and
/// TLB misses.
class Pages {
 public:
  explicit Pages(std::int64_t bytes)
      : bytes_(static_cast<std::size_t>(bytes)),
        base_(mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {
    if (data() != nullptr) madvise(base_, bytes_, MADV_HUGEPAGE);
  }
  Pages(const Pages&) = delete;
  ~Pages() {
    if (data() != nullptr) munmap(base_, bytes_);
  }
  /// Returns the memory; nullptr: there was not enough.
  char* data() const { return base_ == MAP_FAILED ? nullptr : static_cast<char*>(base_); }

 private:
  std::size_t bytes_;
  void* base_;
};

/// Returns the bytes per thread, in whole cache lines, of an array of `caches` times the last-level cache.
std::int64_t share_of(std::int64_t caches, std::int64_t l3_bytes, int threads) {
  constexpr std::int64_t kMiB = 1 << 20;
  return std::clamp<std::int64_t>(caches * l3_bytes, 64 * kMiB, 256 * kMiB) / threads / 64 * 64;
}

/// Copies whole cache lines with ordinary stores. Keeps the compiler from calling memcpy, which may use
/// streaming stores.
void copy_ordinarily(char* to, const char* from, std::int64_t bytes) {
  for (std::int64_t i = 0; i < bytes; i += 64) {
    std::memcpy(to + i, from + i, 64);
    asm volatile("" : : : "memory");
  }
}

void copy_streaming(char* to, const char* from, std::int64_t bytes) {
#if defined(__x86_64__)
  for (std::int64_t i = 0; i < bytes; i += 16)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                     _mm_load_si128(reinterpret_cast<const __m128i*>(from + i)));
  _mm_sfence();
#elif defined(__aarch64__)
  for (std::int64_t i = 0; i < bytes; i += 16)
    asm volatile("ldp x8, x9, [%0]\n\tstnp x8, x9, [%1]"
                 :
                 : "r"(from + i), "r"(to + i)
                 : "x8", "x9", "memory");
#else
  copy_ordinarily(to, from, bytes);
#endif
}

}  // namespace

double measure_read_gbytes(int threads, std::int64_t l3_bytes) {
  const std::int64_t part = share_of(2, l3_bytes, threads), bytes = part * threads;
  const Pages pages(bytes);
  char* const base = pages.data();
  if (base == nullptr) return 0;
  best_round(threads, 1, [&](int thread) { std::fill_n(base + thread * part, part, '\1'); });
  std::atomic<std::uint64_t> sink = 0;
  const double best = best_round(threads, 3, [&](int thread) {
    const auto* words = reinterpret_cast<const std::uint64_t*>(base + thread * part);
    std::uint64_t sums[4] = {};
    for (std::int64_t i = 0; i < part / 8; i += 8) {
      sums[0] += words[i] + words[i + 4];
      sums[1] += words[i + 1] + words[i + 5];
      sums[2] += words[i + 2] + words[i + 6];
      sums[3] += words[i + 3] + words[i + 7];
    }
    sink += sums[0] + sums[1] + sums[2] + sums[3];
  });
  return static_cast<double>(bytes) / best / 1e9;
}

CopyRates measure_copy_gbytes(int threads, std::int64_t l3_bytes) {
  const std::int64_t part = share_of(4, l3_bytes, threads), bytes = part * threads;
  const Pages source(bytes), sink(bytes);
  char *const from = source.data(), *const to = sink.data();
  if (from == nullptr || to == nullptr) return {};
  best_round(threads, 1, [&](int thread) {
    std::fill_n(from + thread * part, part, '\1');
    std::fill_n(to + thread * part, part, '\2');
  });
  const auto rate = [&](void (*copy)(char*, const char*, std::int64_t)) {
    const double best =
        best_round(threads, 8, [&](int thread) { copy(to + thread * part, from + thread * part, part); });
    return 2 * static_cast<double>(bytes) / best / 1e9;
  };
  return {rate(&copy_ordinarily), rate(&copy_streaming)};
}

}  // namespace lehr
