// One problem as a line of text, in the notations that benchmarks use.
#pragma once

#include <string_view>

#include "workload/workload.h"

namespace lehr {

/// A problem in one of these notations; anything else throws Error(kUser), one sentence without the place,
/// and so does a key that is given twice.
/// - a workload's own text: "gemm m=16 n=32 k=8", "conv2d h=56 w=56 c=64 k=64 r=3 s=3"; without s filters are
/// square
/// - DeepBench's GEMM, "m n k a_t b_t", and convolution, "w h c n k fw fh padw padh wstride hstride", in f32;
/// blanks
///   or commas between them, "std::make_tuple(...)," around them. Its matrices are stored by columns, as
///   cuBLAS has them; a_t and b_t (1, true, T or 0, false, N) say that A and B are stored transposed.
/// - MIOpenDriver's command line, or a line of its log: "conv -n 1 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q
/// 1 -u 1
///   -v 1 -l 1 -j 1 -g 1", convfp16, convbfp16, "gemm -m 256 -n 256 -k 256", a flag's name in the place of
///   its letter, a = before its value; what it leaves out is the driver's default, and flags that change how
///   it is run, not what is computed, are skipped. Its matrices lie by rows unless -C 1 says otherwise.
/// - cutlass_profiler's command line, or the arguments that it prints (problem_cutlass.h):
///   "cutlass_profiler --operation=Gemm --m=16 --n=32 --k=8 --A=f16:row --B=f16:column --C=f32:row"
/// - benchdnn's, or a descriptor alone, as in its files of shapes (problem_benchdnn.h):
///   "benchdnn --conv --dt=f32 mb1ic64ih56oc64kh3ph1", "--matmul --wtag=ba 16x64:64x32"
Workload parse_problem_line(std::string_view line);

/// A row of a table: `op` is gemm, gemm_batched or conv; `params` are
/// "m=16;n=32;k=8;transA=N;transB=T;dtype=f16" (rows of matrices contiguous, C too),
/// "n=1;c=64;h=56;w=56;k=64;r=3;s=3;stride=1;layout=NHWC;dtype=f16", with any further key of a workload's
/// text; without s filters are square. Throws as parse_problem_line().
Workload parse_problem_params(std::string_view op, std::string_view params);

}  // namespace lehr
