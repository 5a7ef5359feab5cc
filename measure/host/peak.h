// What this CPU can do at most: the roofline's two numbers, measured.
#pragma once

#include <cstdint>
#include <string_view>

namespace lehr {

/// fp32 GFLOP/s (a fused multiply-add counts 2) of `threads` pinned threads together; `arch` as in
/// Limits::arch. Best of several 2 ms windows, about 15 ms. 0 for an instruction set that has no kernel here.
double measure_peak_gflops(int threads, std::string_view arch);

/// What `threads` threads would reach if each were as fast as one alone in its best 0.1 ms of many: hardly
/// ever less than they can do, on a machine that is busy with something else, too. About 15 ms of processor
/// time.
double measure_burst_gflops(int threads, std::string_view arch);

/// GB/s of `threads` threads that read a buffer of twice `l3_bytes` (at least 64 MiB, at most 256 MiB); best
/// of 3 sweeps.
double measure_read_gbytes(int threads, std::int64_t l3_bytes);

/// GB/s, read and written, of `threads` threads that copy an array of four times `l3_bytes` (at least 64 MiB,
/// at most 256 MiB) into another one; best of 8 copies. 0 where there is no memory.
struct CopyRates {
  double ordinary = 0;   ///< with stores that bring each line into the caches before
  double streaming = 0;  ///< with stores past the caches
};
CopyRates measure_copy_gbytes(int threads, std::int64_t l3_bytes);

}  // namespace lehr
