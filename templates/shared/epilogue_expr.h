// An epilogue as expressions of a kernel: its operands as parameters, its steps applied to sums in registers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// `lanes` neighbours in C's memory.
struct EpiloguePlace {
  ir::Expr channel = ir::integer(0);  ///< channel of the first lane
  bool along_channels = false;        ///< the lanes are channels side by side; else all are of one
  ir::Expr element = ir::integer(0);  ///< flat index of the first lane in C
  int lanes = 1;
  std::optional<ir::Expr> active = std::nullopt;  ///< number of leading lanes that exist (as in ir::Load)
};

/// Returns a step without operands applied to an f32, or to a vector of `lanes` of them.
ir::Expr step_expr(const EpilogueStep& step, ir::Expr value, int lanes);

/// The scale of a kernel's sums (ProductSums::scale), and the steps behind it. Does nothing if the workload
/// has neither. A step computes in the type of the sums, or in f32 behind a dequant (type_at()). There each
/// product is rounded before it is added to, as in the reference.
class FusedEpilogue {
 public:
  FusedEpilogue() = default;
  /// Adds the operands to the kernel's parameters, in the order of tensors_of(): call it after the output and
  /// before any workspace.
  FusedEpilogue(ir::KernelBuilder& builder, const Workload& workload)
      : FusedEpilogue(builder, workload, sums_of(workload)) {}
  /// Does the same for sums of another type or with another scale than the workload's.
  FusedEpilogue(ir::KernelBuilder& builder, const Workload& workload, const ProductSums& sums);

  bool empty() const { return epilogue_.empty() && scale_ == 1; }
  /// Returns whether the last step makes one column out of two. of() and in_place() leave that step out: it
  /// is gate().
  bool gated() const { return is_gated(epilogue_); }
  /// Returns the last step, of vectors of equal length or of scalars.
  ir::Expr gate(ir::Expr gate, ir::Expr value) const;
  /// Applies the last step in registers: `count` elements from `first` on replace twice as many.
  ir::Block gate_in_place(ir::KernelBuilder& builder, ir::BufferId registers, const ir::Expr& first,
                          std::int64_t count) const;
  /// Returns how many pixels, vertically and horizontally, become one. of() and in_place() leave that step
  /// out.
  std::int64_t window() const { return windows().window; }
  PoolWindows windows() const { return windows_of(epilogue_); }
  /// Returns the last step, of a window's pixels after the other steps: vectors of `lanes` or scalars.
  ir::Expr pool(std::vector<ir::Expr> pixels, int lanes) const;
  /// Return the same one pixel at a time; each result may be stored. before_any() is the initial value,
  /// joined() adds a pixel, and of_joined() makes the result of all `count` pixels.
  double before_any() const;
  ir::Expr joined(ir::Expr so_far, ir::Expr pixel) const;
  ir::Expr of_joined(ir::Expr all, std::int64_t count, int lanes) const;
  /// Returns scale and steps applied to a vector of sums (C++) or to one (both targets).
  ir::Expr of(ir::Expr sums, const EpiloguePlace& place) const;
  /// Returns a result of of() or gate() as an element of the output: cast to its type if that is another one.
  /// CPU.
  ir::Expr stored(ir::Expr value) const;
  /// Applies, on CUDA, where vectors are only moved, scale and steps to `place.lanes` sums side by side in
  /// `registers` from `first` on, and replaces them. Operands are loaded as vectors, so C's rows must be
  /// aligned for them.
  ir::Block in_place(ir::KernelBuilder& builder, ir::BufferId registers, const ir::Expr& first,
                     const EpiloguePlace& place) const;

 private:
  struct Operand {
    ir::BufferId buffer{};
    OperandPer per = OperandPer::kChannel;
    DType type = DType::kF32;      ///< in memory
    DType computed = DType::kF32;  ///< the type in which its step computes
  };
  /// The value of an operand, by its number.
  using Fetch = std::function<ir::Expr(std::size_t operand)>;
  /// Returns the steps that are not behind a shrinking one, or only those that are (`behind`).
  ir::Expr apply(ir::Expr value, int lanes, const Fetch& fetch, bool behind = false) const;
  ir::Expr fetched(const Operand& operand, const EpiloguePlace& place) const;
  /// Returns a constant in the type of all steps that have numbers.
  ir::Expr constant(double value, int lanes) const;
  /// Returns a loaded value of an operand, in the type in which its step computes.
  static ir::Expr widened(ir::Expr value, const Operand& operand);
  /// Whether each lane has an element of its own; index of the first one.
  static bool is_along(const Operand& operand, const EpiloguePlace& place);
  static ir::Expr index_of(const Operand& operand, const EpiloguePlace& place);

  Epilogue epilogue_;
  float scale_ = 1;
  DType accum_ = DType::kF32, stored_ = DType::kF32;
  DType last_ = DType::kF32;  ///< the type in which the last step computes
  std::vector<Operand> operands_;
};

}  // namespace lehr
