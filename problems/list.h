// Reads a list of problems as text, in the notations of benchmarks.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "workload/workload.h"

namespace lehr {

/// Reads a problem in one of these notations. Throws Error(kUser), one sentence without the line's number,
/// for any other text, and for a key that is given twice.
/// - a workload's own text: "gemm m=16 n=32 k=8", "conv2d h=56 w=56 c=64 k=64 r=3 s=3"; without s filters are
///   square
/// - DeepBench's GEMM, "m n k a_t b_t", and convolution, "w h c n k fw fh padw padh wstride hstride", in f32;
///   blanks or commas between them, "std::make_tuple(...)," around them. Its matrices are stored by columns;
///   a_t and b_t (1, true, T or 0, false, N) say that A and B are stored transposed.
/// - MIOpenDriver's command line, or a line of its log:
///   "conv -n 1 -c 64 -H 56 -W 56 -k 64 -y 3 -x 3 -p 1 -q 1", convfp16, convbfp16,
///   "gemm -m 256 -n 256 -k 256", a flag's name instead of its letter, a = before its value
/// - cutlass_profiler's command line, or the arguments that it prints:
///   "cutlass_profiler --operation=Gemm --m=16 --n=32 --k=8 --A=f16:row --B=f16:column --C=f32:row"
/// - benchdnn's command line, or only a descriptor, as in its files of shapes:
///   "benchdnn --conv --dt=f32 mb1ic64ih56oc64kh3ph1", "--matmul --wtag=ba 16x64:64x32"
Workload parse_problem_line(std::string_view line);

struct ProblemList {
  /// The problems, without repetition.
  std::vector<Workload> problems;
  /// A sentence for each line that is not a problem, with the name of the list and the line.
  std::vector<std::string> unusable;
  /// Number of lines that are not skipped and should be problems.
  std::size_t lines = 0;
};

/// Reads the problems of a text, one per line. Text after a '#' or "//", empty lines, and the lines around
/// the numbers in DeepBench's headers are skipped. A line that ends in a backslash continues on the next one.
///
/// The text may also be a table, whose fields may be quoted as in CSV (RFC 4180): a report of
/// cutlass_profiler, or a first line of names, in upper or lower case, with
/// - op: gemm, gemm_batched or conv
/// - params: "m=16;n=32;k=8;transA=N;transB=T;dtype=f16" (rows of matrices contiguous, C too),
///   "n=1;c=64;h=56;w=56;k=64;r=3;s=3;stride=1;layout=NHWC;dtype=f16", with any further key of a workload's
///   text; without s filters are square
ProblemList read_problems(std::string_view text, std::string_view name);

}  // namespace lehr
