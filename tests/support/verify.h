// Structural checks of a kernel. Tests apply them to whatever a family lowers to.
#pragma once

#include <optional>
#include <string>

#include "ir/kernel.h"

namespace lehr::ir {

/// Returns nullopt if the kernel is well formed, else one sentence that names the place ("in loop ko > store
/// to acc:
/// ..."). Checks:
/// - names are C identifiers and unique among variables and buffers; ids are in range;
/// - every variable is bound where it is used, and once on a path;
/// - every global buffer in use is a parameter, kIn parameters are not written, every kOut one is;
/// - every other buffer fits the target, has elements > 0, and is alive (Alloc) where it is used; kShared and
///   kScratch buffers have exactly one Alloc, kRegister ones at least one; a constant index is inside its
///   buffer; one in place of another fits it, and that one is alive;
/// - lanes agree; indices, counts, extents and Let values are single integers; constant divisors are
/// positive;
/// - extents are constant where the kind needs it, equal to `bound` where constant, and bounds are at least
/// 1;
/// - loop kinds fit the target: kParallel outermost and CPU only, block and thread kinds CUDA only, each
/// bound
///   at most once on a path and with one extent everywhere;
/// - intrinsics are known and have the touches and arguments that they take (ir/intrinsics.h);
/// - barriers only on CUDA, and not under an If or loop whose condition or extent depends on a thread
/// variable
///   or on memory: an If that all threads of a block decide alike may hold one;
/// - the same holds for warp collectives (ldmatrix, mma, warp_sum_f32); the group of a sum or an exchange is
/// a
///   constant power of two up to 32 lanes;
/// - workspaces come behind all other parameters, and written; an atomic's counter is in one;
/// - prepacked parameters only on the CPU, behind all other parameters, written by the prepack block and by
///   nothing else; it writes no other parameter;
/// - wgmma and setmaxnreg are reached by whole warpgroups of 128 threads, warp collectives by whole warps;
///   conditions on "thread / 32" and the like are understood;
/// - tensor maps only on CUDA and within the driver's limits; a buffer with one is touched by TMA alone;
/// - register buffers are indexed by constants once the unrolled loops are expanded (variables of kUnrolled
///   loops, and Lets of those), and those kept as vectors are accessed in whole vectors.
std::optional<std::string> why_malformed(const Kernel& kernel);

}  // namespace lehr::ir
