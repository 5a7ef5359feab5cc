// Measures the peak rates of this CPU: the roofline's two numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace lehr {

/// Returns the fp32 GFLOP/s (a fused multiply-add counts 2) of `threads` pinned threads together; `arch` as
/// in Limits::arch. It is the best of several 2 ms windows, about 15 ms. 0 for an instruction set without a
/// kernel here.
double measure_peak_gflops(int threads, std::string_view arch);

/// Returns the rate that `threads` threads would reach if each were as fast as a single one in its best 0.1
/// ms of many. It is hardly ever less than they can reach, even on a machine that is busy with something
/// else. Takes about 15 ms of processor time.
double measure_burst_gflops(int threads, std::string_view arch);

/// Returns the GB/s of `threads` threads that read a buffer of twice `l3_bytes` (at least 64 MiB, at most 256
/// MiB); best of 3 sweeps.
double measure_read_gbytes(int threads, std::int64_t l3_bytes);

/// GB/s, read and written, of `threads` threads that copy an array of four times `l3_bytes` (at least 64 MiB,
/// at most 256 MiB) into another one; best of 8 copies. 0 if there is no memory.
struct CopyRates {
  double ordinary = 0;   ///< with stores that load each line into the caches first
  double streaming = 0;  ///< with stores past the caches
};
CopyRates measure_copy_gbytes(int threads, std::int64_t l3_bytes);

}  // namespace lehr
