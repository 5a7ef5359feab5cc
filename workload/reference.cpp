#include "workload/reference.h"

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/rng.h"
#include "workload/operator.h"

namespace lehr {
namespace {

// Returns the rows to compare if comparing all would take too long: the first and the last row of each
// matrix, and evenly spread rows in between. Each of the latter is shifted by a pseudo-random offset, so that
// a fault in every 64th row is not missed by a regular grid.
std::vector<std::int64_t> chosen_rows(std::int64_t m, std::int64_t count) {
  std::vector<std::int64_t> rows = {0, m - 1};
  Rng rng(0x5eed);
  const std::int64_t stride = std::max<std::int64_t>(1, m / count);
  for (std::int64_t base = 0; base < m; base += stride) {
    rows.push_back(std::min<std::int64_t>(
        m - 1, base + static_cast<std::int64_t>(rng.below(static_cast<std::uint64_t>(stride)))));
  }
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
  return rows;
}

// Returns all rows of an output with `m` rows, or as many rows as `full_flops` allows.
std::vector<std::int64_t> rows_to_compute(std::int64_t m, double flops, double full_flops) {
  if (flops > full_flops)
    return chosen_rows(m, std::max<std::int64_t>(
                              1, static_cast<std::int64_t>(full_flops / (flops / static_cast<double>(m)))));
  std::vector<std::int64_t> rows(static_cast<std::size_t>(m));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

/// Adds a line. If the whole output is computed, the line is stored at its indices.
void add_line(const OutputLine& line, bool full, Reference& reference) {
  if (full && !line.bounds.empty()) reference.bounds.resize(reference.values.size());
  std::int64_t index = line.first;
  for (std::size_t i = 0; i < line.values.size(); ++i, index += line.step) {
    if (full) {
      reference.values[static_cast<std::size_t>(index)] = line.values[i];
      if (!line.bounds.empty()) reference.bounds[static_cast<std::size_t>(index)] = line.bounds[i];
      continue;
    }
    reference.indices.push_back(index);
    reference.values.push_back(line.values[i]);
    if (!line.bounds.empty()) reference.bounds.push_back(line.bounds[i]);
  }
}

}  // namespace

std::vector<Reference> make_references(const Workload& workload,
                                       const std::vector<std::vector<float>>& inputs, double full_flops) {
  const std::vector<TensorSpec> tensors = tensors_of(workload);
  CHECK(inputs.size() == tensors.size());
  const OperatorTable& op = operator_of(workload);
  const OutputLines lines = op.lines(workload);
  const std::vector<std::int64_t> rows =
      rows_to_compute(lines.rows, lines.cost * flops_of(workload), full_flops);
  const bool full = static_cast<std::int64_t>(rows.size()) == lines.rows;
  std::vector<Reference> references;
  for (const TensorSpec& tensor : tensors)
    if (tensor.is_output())
      references.emplace_back().values.resize(full ? static_cast<std::size_t>(tensor.elements) : 0);
  std::vector<OutputLine> made(references.size());
  for (std::int64_t matrix = 0; matrix < lines.matrices; ++matrix)
    for (const std::int64_t row : rows) {
      op.line(workload, inputs, matrix, row, made);
      for (std::size_t i = 0; i < made.size(); ++i) add_line(made[i], full, references[i]);
    }
  for (Reference& reference : references)
    if (reference.bounds.empty())
      reference.tolerance = tolerance_for(workload, static_cast<std::int64_t>(reference.values.size()));
  return references;
}

double tolerance_for(const Workload& workload, std::int64_t elements) {
  return operator_of(workload).tolerance(workload, elements);
}

}  // namespace lehr
