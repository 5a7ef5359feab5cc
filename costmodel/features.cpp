// Assembles feature rows from the sections, and the table of columns from the same code.
#include "costmodel/features.h"

#include <algorithm>

#include "base/error.h"
#include "costmodel/feature_sections.h"

namespace lehr {
namespace {

void add_all(const FeatureContext& context, Columns& columns) {
  add_kernel_columns(context, columns);
  add_loop_columns(context, columns);
  add_buffer_columns(context, columns);
  add_relation_columns(context, columns);
  add_memory_columns(context, columns);
  add_hardware_columns(context, columns);
}

/// The table of an empty kernel: columns do not depend on the kernel.
struct Table {
  std::vector<Columns::Description> descriptions;
  std::vector<FeatureInfo> infos;

  Table() {
    const ir::Analysis analysis;
    const ir::Kernel kernel;
    const Limits limits;
    Columns columns(descriptions);
    add_all(FeatureContext(analysis, kernel, limits), columns);
    infos.reserve(descriptions.size());
    for (const auto& d : descriptions) infos.push_back({d.name, d.unit, d.meaning});
  }
};

void fill(const ir::Analysis& analysis, const ir::Kernel& kernel, const Limits& limits,
          std::span<float> row) {
  Columns columns(row);
  add_all(FeatureContext(analysis, kernel, limits), columns);
  CHECK(columns.full(), "a row has fewer values than the table has columns");
}

}  // namespace

FeatureContext::FeatureContext(const ir::Analysis& analysis, const ir::Kernel& kernel, const Limits& limits)
    : text(walk_text(kernel, analysis, arena_.memory())),
      view(analysis, kernel, limits, text, arena_.memory()),
      cached(view, arena_.memory()),
      core(view, cached, Sharing::kPrivate, arena_.memory()),
      capacity(view.machine.capacities(analysis, view.residency, limits)) {
  traffic[0] = core.traffic(capacity[0]);
  traffic[1] = kernel.target.has(Feature::kL2PerCore) ? core.traffic(capacity[1]) : traffic[0];
  if (kernel.target.has(Feature::kBlocks) || analysis.launch.work_items > 1)
    several_.emplace(view, cached, Sharing::kShared, arena_.memory());
  traffic[2] = chip().traffic(capacity[2]);
}

std::span<const FeatureInfo> feature_table() {
  static const Table table;
  return table.infos;
}

std::size_t feature_index(std::string_view name) {
  const auto table = feature_table();
  const auto found = std::ranges::find(table, name, &FeatureInfo::name);
  if (found == table.end()) throw_user("unknown feature '{}'; feature_table() lists the names", name);
  return static_cast<std::size_t>(found - table.begin());
}

std::vector<float> featurize(const ir::Analysis& analysis, const ir::Kernel& kernel, const Limits& limits) {
  std::vector<float> row(feature_table().size());
  fill(analysis, kernel, limits, row);
  return row;
}

void featurize(const ir::Kernel& kernel, const Limits& limits, std::span<float> row) {
  fill(ir::analyze(kernel), kernel, limits, row);
}

std::vector<float> featurize(const ir::Kernel& kernel, const Limits& limits) {
  return featurize(ir::analyze(kernel), kernel, limits);
}

void FeatureMatrix::append(std::span<const float> row) {
  CHECK(row.size() == columns_, "a row of {} values for a matrix of {} columns", row.size(), columns_);
  values_.insert(values_.end(), row.begin(), row.end());
}

}  // namespace lehr
