// What one session tunes: a problem on a device, and the candidates for it, as the templates offer them or
// somebody else does.
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

/// Among the names of baselines: Candidates::unfused.
inline constexpr std::string_view kUnfused = "unfused";

struct Task {
  Problem problem;  ///< asked for; its inputs follow from the session's seed
  Device device;
  /// What is computed, if it is one of ours. Without it no other task of a log is a hint, no library and no
  /// roof is known, and the host alone checks.
  std::optional<Workload> workload = std::nullopt;
  /// false: without families that do fewer products than the sum that defines the operator (Winograd's),
  /// whose rounding errors are larger.
  bool saving_products = true;
  /// Only kernels that lay inputs out beforehand in this way.
  std::optional<SharedLayout> layout = std::nullopt;
};

/// Writes the feature row of a point into `row`; false if it has none. Called from several threads at once.
using RowOf = std::function<bool(const Point& point, std::span<float> row)>;

/// The task of a workload of ours.
Task task_of(const Workload& workload, Device device, bool saving_products = true,
             std::optional<SharedLayout> layout = std::nullopt);

/// What a tuner asks of the kernels that it chooses from. The functions are called from several threads at
/// once and must be pure.
struct Candidates {
  Space space;
  /// One of each family, the most promising first: on a CPU that with the shortest estimate
  /// (costmodel/roofline_model.h), elsewhere the catalogue's order. Never empty; the first is "the default".
  std::vector<Point> defaults = {};
  /// What it throws is how the candidate fails.
  std::function<Source(const Point&)> source_of = {};
  RowOf row_of = {};  ///< what models learn from, `columns` values; none of what cannot be made
  std::size_t columns = 0;
  /// Rows are those of feature_table(), of which the analytic prior and kernels of other workloads tell.
  bool of_kernels = false;
  /// The candidate's own operations; empty: the problem's.
  std::function<double(const Point&)> flops_of = {};
  /// The template's version, stored with each trial.
  std::function<int(std::string_view family)> version_of = {};
  /// The kernel of a config without the epilogue, then the epilogue as a pass of its own over the output.
  /// nullopt: without the epilogue there is no such config. Empty: there is no epilogue, or no such pass for
  /// the device.
  std::function<std::optional<Source>(const Config&)> unfused = {};
};

/// From now on sources, rows and operations are those of kernels that `lower` makes, which must be pure.
void lower_by(std::function<ir::Kernel(const Point&)> lower, const Limits& limits, Candidates& candidates);

/// All template families that serve the task, whose workload is one of ours. Throws Error(kUser) with each
/// family's reason when there is none.
Candidates candidates_for(const Task& task);

/// nullopt where a family serves the workload on the device, or a range's kernels, else a sentence.
/// `leave_out` gets it, or one for each family that fails to describe itself.
std::optional<std::string> why_not_served(const Workload& workload, const Limits& limits,
                                          const std::function<void(const std::string&)>& leave_out);

/// What a device that checks by itself computes expected outputs with; nullopt where the host checks.
std::optional<PlainSource> plain_source(const Task& task);
/// Puts the task's problem before the measurer, and others to prove kernels on.
void prepare(Measurer& measurer, const Task& task, std::uint64_t seed);

/// The source of `point`, or what making it threw, as a failed trial.
std::variant<Source, Failure> try_emit(const Candidates& candidates, const Point& point);

}  // namespace lehr
