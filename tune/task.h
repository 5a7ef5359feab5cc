// The input of a session: a problem on a device, and the candidates for it, from the templates or from
// another program.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string_view>
#include <variant>
#include <vector>

#include "codegen/source.h"
#include "ir/kernel.h"
#include "measure/core/measurer.h"
#include "measure/core/problem.h"
#include "record/device.h"
#include "record/outcome.h"
#include "space/space.h"
#include "templates/catalog.h"
#include "tune/shared_layout.h"
#include "workload/workload.h"

namespace lehr {

/// Name among the baselines that stands for Candidates::unfused.
inline constexpr std::string_view kUnfused = "unfused";

struct Task {
  Problem problem;  ///< without values: its inputs follow from the session's seed
  Device device;
  /// The workload, if the problem is a workload of ours. Without it no other task of a log gives hints, no
  /// library and no roof is known, and results are checked on the host only.
  std::optional<Workload> workload = std::nullopt;
  /// Whether families take part that compute fewer products than the operator's definition has (Winograd).
  /// Their rounding errors are larger.
  bool winograd = true;
  /// If set, only kernels with this layout of packed inputs take part.
  std::optional<SharedLayout> layout = std::nullopt;
};

/// Writes the feature row of a point into `row`; returns false if it has none. Called from several threads at
/// once.
using RowOf = std::function<bool(const Point& point, std::span<float> row)>;

/// Returns the task of a workload of ours.
Task task_of(const Workload& workload, Device device, bool winograd = true,
             std::optional<SharedLayout> layout = std::nullopt);

/// The kernels that a tuner chooses from. The functions are called from several threads at once and must be
/// pure.
struct Candidates {
  Space space;
  /// One config per family, the most promising first: on a CPU by the shortest estimate
  /// (costmodel/roofline_model.h), on other targets in the catalogue's order. Never empty; the first config
  /// is "the default".
  std::vector<Point> defaults = {};
  /// Makes the source of a point. If it throws, the candidate has failed.
  std::function<Source(const Point&)> source_of = {};
  /// Writes the feature row that models learn from, `columns` values; returns false for a point without a
  /// kernel.
  RowOf row_of = {};
  std::size_t columns = 0;
  /// Whether rows are made by feature_table(), whose columns the analytic prior and kernels of other
  /// workloads use too.
  bool of_kernels = false;
  /// Returns the number of operations of the candidate's kernel. If empty, the problem's number is used.
  std::function<double(const Point&)> flops_of = {};
  /// Returns the template's version, which is stored with each trial.
  std::function<int(std::string_view family)> version_of = {};
  /// Returns a config's kernel without the epilogue, followed by a second kernel that applies the epilogue to
  /// the output; nullopt if the config cannot be used without the epilogue. Empty if there is no epilogue, or
  /// no such pair of kernels for the device.
  std::function<std::optional<Source>(const Config&)> unfused = {};
};

/// Sets `source_of`, `row_of` and `flops_of` of `candidates` for the kernels that `lower` makes. `lower` must
/// be pure.
void lower_by(std::function<ir::Kernel(const Point&)> lower, const Limits& limits, Candidates& candidates);

/// Returns all template families that serve the task, whose workload must be one of ours. Throws Error(kUser)
/// with each family's reason if no family does.
Candidates candidates_for(const Task& task);

/// Returns nullopt if a family, or a range's kernels, serve the workload on the device; else a sentence.
/// `leave_out` is called with a sentence for each family that throws when asked.
std::optional<std::string> why_not_served(const Workload& workload, const Limits& limits,
                                          const std::function<void(const std::string&)>& leave_out);

/// Returns the plain kernel with which a device computes expected outputs if it checks results itself;
/// nullopt if results are checked on the host.
std::optional<PlainSource> plain_source(const Task& task);
/// Gives the measurer the task's problem, and further problems to prove kernels on.
void prepare(Measurer& measurer, const Task& task, std::uint64_t seed);

/// Returns the source of `point`. If making it throws, returns the exception as a failure.
std::variant<Source, Failure> try_emit(const Candidates& candidates, const Point& point);

}  // namespace lehr
