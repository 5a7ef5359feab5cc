// Structural checks of a kernel. Tests apply them to the kernels of every family.
#pragma once

#include <optional>
#include <string>

#include "ir/kernel.h"

namespace lehr::ir {

/// Returns nullopt if the kernel is well formed. If not, returns one sentence that names the place ("in
/// loop ko > store to acc: ..."). Rules:
/// - names are C identifiers and unique among variables and buffers; ids are in range;
/// - every variable is bound where it is used, and only once on a path;
/// - every global buffer in use is a parameter; kIn parameters are not written, and every kOut parameter
///   is;
/// - every other buffer fits the target, has elements > 0, and is alive (Alloc) where it is used; kShared
///   and kScratch buffers have exactly one Alloc, kRegister buffers at least one; a constant index is
///   inside its buffer; a buffer in place of another one fits that one, which must be alive;
/// - lanes agree; indices, counts, extents and Let values are single integers; constant divisors are
///   positive;
/// - extents are constant where the loop kind requires it, and equal to `bound` if constant; bounds are at
///   least 1;
/// - loop kinds fit the target: kParallel is outermost and for CPUs only; block and thread kinds are for
///   CUDA only, and each is bound at most once on a path and has one extent everywhere;
/// - intrinsics are known and have the touches and arguments that they take (ir/intrinsics.h);
/// - barriers are for CUDA only, and not under an If or loop whose condition or extent depends on a thread
///   variable or on memory; an If that all threads of a block decide alike may hold a barrier;
/// - the same holds for warp collectives (ldmatrix, mma, warp_sum_f32); the group of a sum or an exchange
///   is a constant power of two up to 32 lanes;
/// - workspaces come after all other parameters, and are written; the counter of an atomic is in a
///   workspace;
/// - prepacked parameters are for CPUs only, come after all other parameters, and are written by the
///   prepack block only; the prepack block writes no other parameter;
/// - wgmma and setmaxnreg are reached by whole warpgroups of 128 threads, and warp collectives by whole
///   warps; conditions on "thread / 32" and the like are understood;
/// - tensor maps are for CUDA only and within the driver's limits; a buffer with a tensor map is touched by
///   TMA only;
/// - register buffers are indexed by constants once unrolled loops are expanded (variables of kUnrolled
///   loops, and Lets of these); register buffers kept as vectors are accessed in whole vectors.
std::optional<std::string> why_malformed(const Kernel& kernel);

}  // namespace lehr::ir
