// The text of a row expression: what one kernel computes for a few rows at once, vector by vector.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "templates/rowwise/cpu/row_plan.h"

namespace lehr::cpu {

/// Rows that are split: each part of the kernel computes a range of columns of all of them, one pass a step.
struct RowSplit {
  ir::BufferId partials{};  ///< [reduction][row][part]
  std::int64_t rows = 1;    ///< that there is room for
  std::int64_t parts = 1;
  ir::VarId part{};
  int pass = 0;  ///< of this step
};

/// The kernel that rows are computed in.
struct RowKernel {
  const Rowwise& rowwise;
  RowPlan plan;
  std::int64_t lanes = 16;
  bool across = false;     ///< a vector holds rows, not columns
  bool streaming = false;  ///< whole vectors are stored past the caches
  ir::KernelBuilder builder = {};
  std::vector<ir::BufferId> in = {}, out = {};   ///< parameters; across, of tensors that vary: scratch memory
  std::optional<RowSplit> split = std::nullopt;  ///< where rows are being split
  ir::BufferId tail = {};  ///< a vector that is not 0 in the lanes of the last, partial vector of a row
};

/// A vector of columns (or, across, of rows) of some rows.
struct RowVector {
  ir::Expr row = ir::integer(0);                  ///< the first one
  ir::Expr column = ir::integer(0);               ///< the first one
  std::optional<ir::Expr> active = std::nullopt;  ///< leading lanes that are there
  ir::Expr slot = ir::integer(0);                 ///< which of its accumulators a reduction adds to
};

/// Computes `rows` rows at once, interleaved.
class RowSteps {
 public:
  /// Each reduction has `slots` accumulators a row. Where there is a kept node a row has so many vectors.
  RowSteps(RowKernel& kernel, std::int64_t rows, std::int64_t slots, std::int64_t vectors, RowKeep keep);
  /// The same for the pass of rows that are split, one at a time.
  RowSteps(RowKernel& kernel, std::int64_t slots);

  /// What comes before the first pass, for the row from `row` on.
  ir::Block begin(const ir::Expr& row);
  /// One vector of each row in a pass.
  ir::Block step(int pass, const RowVector& at);
  /// What follows of the sums of a pass: values that are the same along a row, those that are outputs stored.
  ir::Block end(int pass, const ir::Expr& row);
  /// Instead of end(), where rows are split: leaves the part's own sums for the next steps.
  ir::Block leave(const ir::Expr& row);
  /// What follows of the sums of the steps before, as end().
  ir::Block gather(const ir::Expr& row);
  /// Makes room for the accumulators of a pass, and clears them.
  ir::Block clear(int pass);

 private:
  struct Values;  // of one vector of one row

  void make_buffers(const RowPlan::Needs& needs);
  int lanes() const { return static_cast<int>(k_.lanes); }
  int width() const { return k_.across ? lanes() : 1; }
  /// A constant in a vector of columns, or the same along rows.
  ir::Expr constant(double value, int lanes) const;
  ir::Expr row_value(int node, const ir::Expr& row) const;
  ir::Expr operand(int node, Values& values);
  ir::Expr varying(int node, Values& values);
  ir::Expr loaded(int node, const Values& values) const;
  template <typename Value>
  ir::Expr combined(const RowNode& node, int lanes, const Value& value) const;
  template <typename Value>
  ir::Expr chosen(const RowNode& node, int lanes, const Value& value) const;
  ir::Expr reduced(const RowReduction& reduction, std::size_t number, const ir::Expr& row) const;
  ir::Expr of_reduction(int node, const ir::Expr& row) const;
  ir::Block gather(int pass, const ir::Expr& row) const;
  ir::Expr partial(std::size_t reduction, const ir::Expr& row, const ir::Expr& part) const;
  ir::Expr row_input(int node, const ir::Expr& at, const ir::Expr& row) const;
  void add_to(std::size_t reduction, Values& values);
  void store(std::size_t output, Values& values);
  /// The block for each of the rows, unrolled; the body is told which one.
  template <typename Body>
  ir::Block each_row(const Body& body);
  ir::Block row_values(int behind, const ir::Expr& row);

  RowKernel& k_;
  std::int64_t rows_, slots_, vectors_;
  RowKeep keep_;
  std::vector<std::optional<ir::BufferId>> row_values_, kept_;  // by node
  std::vector<std::optional<ir::BufferId>> sums_, results_;     // by reduction
};

}  // namespace lehr::cpu
