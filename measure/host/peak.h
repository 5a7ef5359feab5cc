// Measures the peak rates of this CPU, which are the roofline's two numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace lehr {

/// Returns the f32 GFLOP/s of `threads` pinned threads together; a fused multiply-add counts as 2 operations.
/// `arch` is as in Limits::arch. The result is the best of several windows of 2 ms, and takes about 15 ms.
/// Returns 0 for an instruction set for which there is no kernel here.
double measure_peak_gflops(int threads, std::string_view arch);

/// Returns the rate that `threads` threads would reach if each were as fast as a single thread in its best
/// window of 0.1 ms. It is hardly ever less than the threads can reach, even if other programs keep the
/// machine busy. Takes about 15 ms of processor time.
double measure_burst_gflops(int threads, std::string_view arch);

/// Returns the GB/s of `threads` threads that read a buffer of twice `l3_bytes` (at least 64 MiB, at most 256
/// MiB). The result is the best of 3 sweeps.
double measure_read_gbytes(int threads, std::int64_t l3_bytes);

/// GB/s, counting bytes read and bytes written, of `threads` threads that copy an array of four times
/// `l3_bytes` (at least 64 MiB, at most 256 MiB). The rate is the best of 8 copies. 0 if there is not enough
/// memory.
struct CopyRates {
  double ordinary = 0;   ///< with stores that first load each line into the caches
  double streaming = 0;  ///< with stores that bypass the caches
};
CopyRates measure_copy_gbytes(int threads, std::int64_t l3_bytes);

}  // namespace lehr
