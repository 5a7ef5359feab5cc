// The input of a session: a problem on a device, and the candidates for it, from the templates or from
// somebody else.
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
  Problem problem;  ///< not made yet: its inputs follow from the session's seed
  Device device;
  /// The workload, if the problem is one of ours. Without it no other task of a log gives hints, no library
  /// and no roof is known, and only the host checks.
  std::optional<Workload> workload = std::nullopt;
  /// Whether families take part that do fewer products than the operator's sum (Winograd's). Their rounding
  /// errors are larger.
  bool saving_products = true;
  /// If set, only kernels with this layout of packed inputs take part.
  std::optional<SharedLayout> layout = std::nullopt;
};

/// Writes the feature row of a point into `row`; returns false if it has none. Called from several threads at
/// once.
using RowOf = std::function<bool(const Point& point, std::span<float> row)>;

/// Returns the task of a workload of ours.
Task task_of(const Workload& workload, Device device, bool saving_products = true,
             std::optional<SharedLayout> layout = std::nullopt);

/// The kernels that a tuner chooses from. The functions are called from several threads at once and must be
/// pure.
struct Candidates {
  Space space;
  /// One config per family, the most promising first: on a CPU by the shortest estimate
  /// (costmodel/roofline_model.h), elsewhere in the catalogue's order. Never empty; the first is "the
  /// default".
  std::vector<Point> defaults = {};
  /// Makes the source of a point. An exception is the candidate's failure.
  std::function<Source(const Point&)> source_of = {};
  /// Writes the row that models learn from, `columns` values; false for a point without a kernel.
  RowOf row_of = {};
  std::size_t columns = 0;
  /// Whether rows are those of feature_table(), which the analytic prior and kernels of other workloads use.
  bool of_kernels = false;
  /// Returns the candidate's own operations. If empty: the problem's.
  std::function<double(const Point&)> flops_of = {};
  /// Returns the template's version, which is stored with each trial.
  std::function<int(std::string_view family)> version_of = {};
  /// Returns a config's kernel without the epilogue, followed by the epilogue as a pass of its own over the
  /// output; nullopt if there is no such config without the epilogue. Empty if there is no epilogue, or no
  /// such pass for the device.
  std::function<std::optional<Source>(const Config&)> unfused = {};
};

/// Sets sources, rows and operations to those of the kernels that `lower` makes. `lower` must be pure.
void lower_by(std::function<ir::Kernel(const Point&)> lower, const Limits& limits, Candidates& candidates);

/// Returns all template families that serve the task, whose workload must be one of ours. Throws Error(kUser)
/// with each family's reason if no family does.
Candidates candidates_for(const Task& task);

/// Returns nullopt if a family, or a range's kernels, serve the workload on the device; else a sentence.
/// `leave_out` gets a sentence for each family that fails to describe itself.
std::optional<std::string> why_not_served(const Workload& workload, const Limits& limits,
                                          const std::function<void(const std::string&)>& leave_out);

/// Returns the plain kernel with which a device that checks itself computes expected outputs; nullopt if the
/// host checks.
std::optional<PlainSource> plain_source(const Task& task);
/// Gives the measurer the task's problem, and others to prove kernels on.
void prepare(Measurer& measurer, const Task& task, std::uint64_t seed);

/// Returns the source of `point`, or its exception as a failed trial.
std::variant<Source, Failure> try_emit(const Candidates& candidates, const Point& point);

}  // namespace lehr
