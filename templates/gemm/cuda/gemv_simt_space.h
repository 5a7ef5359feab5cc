// The GEMM as gemv_simt sees it, its schedules, and values derived from a schedule (registers, shared
// memory).
#pragma once

#include <optional>
#include <string>

#include "base/limits.h"
#include "space/knobs.h"
#include "workload/workload.h"

namespace lehr {

/// `vectors` vectors of length k, each multiplied by the same matrix of `outputs` x k. The matrix is the
/// workload's A if C has more rows than columns, else its B.
struct GemvProblem {
  std::int64_t vectors = 1, outputs = 1, k = 1, batch = 1;
  /// Type of the matrix and the vectors.
  DType type = DType::kF32;
  /// Type of C. Sums are in f32.
  DType c_type = DType::kF32;
  bool matrix_is_a = false;
  /// Whether the matrix is contiguous along k; otherwise it is contiguous along the outputs.
  bool matrix_along_k = false;
  /// Whether each vector is contiguous. Otherwise the elements of all vectors for one k are neighbours.
  bool vectors_along_k = false;
  /// Whether the results of all vectors for one output are neighbours in C. Otherwise all outputs of one
  /// vector are neighbours.
  bool vectors_inner = false;
  /// Returns the extent of the dimension along which the matrix is contiguous.
  std::int64_t row() const { return matrix_along_k ? k : outputs; }
};
GemvProblem gemv_problem(const Workload& workload);

/// The knobs; gemv_simt_knobs() states their meanings and units. All sizes are powers of two.
///
/// A warp has lanes_k x lanes_o lanes, and a block warps_k x warps_o warps. Along k the block is divided into
/// slices() = lanes_k * warps_k slices, which take turns: each slice multiplies every slices()-th k (or
/// vector of k). At the end the partial sums of the slices are added up. A load of the matrix has `vec`
/// elements: along k if the matrix is contiguous along k, otherwise along the outputs.
struct GemvSchedule {
  std::int64_t vec = 1;
  std::int64_t lanes_k = 32;
  std::int64_t warps_k = 1, warps_o = 1;
  std::int64_t each = 1;        ///< number of loads along the outputs
  std::int64_t unroll = 1;      ///< number of loads along k
  std::int64_t min_blocks = 1;  ///< minimum number of blocks on a multiprocessor, for the launch bounds

  std::int64_t lanes_o() const { return 32 / lanes_k; }
  std::int64_t threads() const { return 32 * warps_k * warps_o; }
  std::int64_t slices() const { return lanes_k * warps_k; }
};

/// Values derived from a problem and a schedule.
struct GemvShape {
  /// K and outputs that one load of the matrix covers; one of them is `vec`
  std::int64_t k_per_load = 1, outputs_per_load = 1;
  std::int64_t outputs_per_thread = 1;
  std::int64_t outputs_per_block = 1;
  std::int64_t k_per_step = 1;  ///< number of k that a block covers in one iteration of its loop over k
  /// Number of elements of k for which a thread loads the vectors at once: those of one load of the matrix,
  /// or of all `unroll` loads if they are consecutive along k.
  std::int64_t chunk = 1;
};
GemvShape gemv_shape(const GemvProblem& problem, const GemvSchedule& schedule);

/// Returns an estimate of the 32-bit registers that a thread needs without spilling.
std::int64_t gemv_registers(const GemvProblem& problem, const GemvSchedule& schedule);
/// Returns the shared memory of a block in bytes.
std::int64_t gemv_shared_bytes(const GemvProblem& problem, const GemvSchedule& schedule);

std::optional<std::string> gemv_why_not(const Workload& workload, const Limits& limits);
void gemv_simt_knobs(Knobs<GemvSchedule>& k, const Workload& workload, const Limits& limits);
GemvSchedule gemv_simt_wanted(const Workload& workload, const Limits& limits);

}  // namespace lehr
