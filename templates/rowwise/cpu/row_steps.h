// Statements that compute a row expression for a few rows at once, vector by vector.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "templates/rowwise/cpu/row_plan.h"

namespace lehr::cpu {

/// For rows that are split among work items: each one computes a range of columns of all rows, one pass in
/// each step of the kernel.
struct RowSplit {
  ir::BufferId partials{};  ///< [reduction][row][work item]
  std::int64_t rows = 1;    ///< number of rows for which there is room
  std::int64_t work_items = 1;
  ir::VarId work_item{};
  int pass = 0;  ///< the pass of the current step
};

/// The kernel that computes the rows.
struct RowKernel {
  const Rowwise& rowwise;
  RowPlan plan;
  std::int64_t lanes = 16;
  bool across = false;     ///< whether a vector holds values of several rows, not of several columns
  bool streaming = false;  ///< whether whole vectors are stored past the caches
  ir::KernelBuilder builder = {};
  /// Parameters; if `across`, scratch memory for tensors that vary along the row.
  std::vector<ir::BufferId> in = {}, out = {};
  std::optional<RowSplit> split = std::nullopt;  ///< set while rows are being split
  /// A vector that is not 0 in those lanes that exist in the last, partial vector of a row.
  ir::BufferId tail = {};
};

/// A vector of columns of some rows; if `across`, a vector of rows.
struct RowVector {
  ir::Expr row = ir::integer(0);                  ///< first row
  ir::Expr column = ir::integer(0);               ///< first column
  std::optional<ir::Expr> active = std::nullopt;  ///< number of leading lanes that exist; nullopt: all
  ir::Expr accumulator = ir::integer(0);          ///< number of the accumulator to which each reduction adds
};

/// Statements for `rows` rows that are computed at once, interleaved.
class RowSteps {
 public:
  /// Each reduction has `accumulators` accumulators per row. `vectors` is the number of vectors in a row, for
  /// nodes that are kept.
  RowSteps(RowKernel& kernel, std::int64_t rows, std::int64_t accumulators, std::int64_t vectors,
           RowKeep keep);
  /// For rows that are split: computes the pass of the current step, one row at a time.
  RowSteps(RowKernel& kernel, std::int64_t accumulators);

  /// Returns the statements before the first pass, for the rows from `row` on.
  ir::Block begin(const ir::Expr& row);
  /// Computes one vector of each row in a pass.
  ir::Block step(int pass, const RowVector& at);
  /// Computes the values that are the same along a row and follow from the sums of a pass. Stores those that
  /// are outputs.
  ir::Block end(int pass, const ir::Expr& row);
  /// For rows that are split, instead of end(): stores the work item's own sums for the next steps.
  ir::Block store_partials(const ir::Expr& row);
  /// For rows that are split: combines the sums that all work items stored in the steps before, and computes
  /// what follows from them, as end() does.
  ir::Block add_partials(const ir::Expr& row);
  /// Allocates the accumulators of a pass, and clears them.
  ir::Block clear(int pass);

 private:
  struct Values;  // values of the nodes for one vector of one row

  void make_buffers(const RowPlan::Needs& needs);
  int lanes() const { return static_cast<int>(k_.lanes); }
  int width() const { return k_.across ? lanes() : 1; }
  /// Returns a constant for a vector of columns, or a scalar one for nodes that are the same along the row.
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
  ir::Block partials_of(int pass, const ir::Expr& row) const;
  ir::Expr partial(std::size_t reduction, const ir::Expr& row, const ir::Expr& work_item) const;
  ir::Expr row_input(int node, const ir::Expr& at, const ir::Expr& row) const;
  void add_to(std::size_t reduction, Values& values);
  void store(std::size_t output, Values& values);
  /// Returns `body` for each of the rows, unrolled; its argument is the number of the row.
  template <typename Body>
  ir::Block each_row(const Body& body);
  ir::Block row_values(int behind, const ir::Expr& row);

  RowKernel& k_;
  std::int64_t rows_, accumulators_, vectors_;
  RowKeep keep_;
  std::vector<std::optional<ir::BufferId>> row_values_, kept_;  // by node
  std::vector<std::optional<ir::BufferId>> sums_, results_;     // by reduction
};

}  // namespace lehr::cpu
