// An epilogue as expressions of a kernel: adds its operands to the parameters, and applies its steps to sums
// in registers.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "ir/kernel.h"
#include "workload/workload.h"

namespace lehr {

/// Position of `lanes` neighbouring elements in C.
struct EpiloguePlace {
  ir::Expr channel = ir::integer(0);  ///< channel of the first lane
  /// Whether the lanes are neighbouring channels; otherwise all lanes are of one channel.
  bool along_channels = false;
  ir::Expr element = ir::integer(0);  ///< flat index of the first lane in C
  int lanes = 1;
  std::optional<ir::Expr> active = std::nullopt;  ///< number of leading lanes that exist, as in ir::Load
};

/// Applies a step without operands to an f32 value, or to a vector of `lanes` values.
ir::Expr step_expr(const EpilogueStep& step, ir::Expr value, int lanes);

/// The scale of a kernel's sums (ProductSums::scale) and the steps of the epilogue that follow. Does nothing
/// if the workload has neither. A step computes in the type of the sums, or in f32 after a dequant
/// (type_at()). In f32, each product is rounded before it is added, as in the reference.
class FusedEpilogue {
 public:
  FusedEpilogue() = default;
  /// Adds the operands to the kernel's parameters, in the order of tensors_of(). Must be called after the
  /// output is added and before any workspace.
  FusedEpilogue(ir::KernelBuilder& builder, const Workload& workload)
      : FusedEpilogue(builder, workload, sums_of(workload)) {}
  /// Does the same for sums with another type or scale than the workload's.
  FusedEpilogue(ir::KernelBuilder& builder, const Workload& workload, const ProductSums& sums);

  bool empty() const { return epilogue_.empty() && scale_ == 1; }
  /// Returns whether the last step combines two columns to one. of() and in_place() leave out that step,
  /// which gate() applies.
  bool gated() const { return is_gated(epilogue_); }
  /// Applies the last step to the two columns that it combines: vectors of equal length, or scalars.
  ir::Expr gate(ir::Expr gate, ir::Expr value) const;
  /// Applies the last step in registers: `count` results replace twice as many elements, from `first` on.
  ir::Block gate_in_place(ir::KernelBuilder& builder, ir::BufferId registers, const ir::Expr& first,
                          std::int64_t count) const;
  /// Returns the extent of the window of pixels that the last step combines to one pixel. of() and in_place()
  /// leave out that step.
  std::int64_t window() const { return windows().window; }
  PoolWindows windows() const { return windows_of(epilogue_); }
  /// Applies the last step to the pixels of a window, after the other steps. Pixels are vectors of `lanes`,
  /// or scalars.
  ir::Expr pool(std::vector<ir::Expr> pixels, int lanes) const;
  /// Pool a window one pixel at a time; intermediate results may be stored. before_any() is the initial
  /// value, joined() adds a pixel, and of_joined() makes the result from all `count` pixels.
  double before_any() const;
  ir::Expr joined(ir::Expr so_far, ir::Expr pixel) const;
  ir::Expr of_joined(ir::Expr all, std::int64_t count, int lanes) const;
  /// Applies scale and steps to a vector of sums (C++), or to one sum (C++ and CUDA).
  ir::Expr of(ir::Expr sums, const EpiloguePlace& place) const;
  /// Converts a result of of() or gate() to the type of the output. CPU only.
  ir::Expr stored(ir::Expr value) const;
  /// Applies scale and steps to `place.lanes` neighbouring sums in `registers`, from `first` on, and replaces
  /// them. For CUDA, where vectors are only moved. Operands are loaded as vectors, so the rows of C must be
  /// aligned for them.
  ir::Block in_place(ir::KernelBuilder& builder, ir::BufferId registers, const ir::Expr& first,
                     const EpiloguePlace& place) const;

 private:
  struct Operand {
    ir::BufferId buffer{};
    OperandPer per = OperandPer::kChannel;
    DType type = DType::kF32;      ///< in memory
    DType computed = DType::kF32;  ///< the type in which the operand's step computes
  };
  /// Returns the value of an operand, given by its number.
  using Fetch = std::function<ir::Expr(std::size_t operand)>;
  /// Applies the steps before a shrinking step (a gate or a pool), or only the steps after it (`behind`).
  ir::Expr apply(ir::Expr value, int lanes, const Fetch& fetch, bool behind = false) const;
  ir::Expr fetched(const Operand& operand, const EpiloguePlace& place) const;
  /// Returns a constant in the type in which all steps with numeric parameters compute.
  ir::Expr constant(double value, int lanes) const;
  /// Converts a loaded value of an operand to the type in which its step computes.
  static ir::Expr widened(ir::Expr value, const Operand& operand);
  /// Return whether each lane has its own element of the operand, and the index of the first lane's element.
  static bool is_along(const Operand& operand, const EpiloguePlace& place);
  static ir::Expr index_of(const Operand& operand, const EpiloguePlace& place);

  Epilogue epilogue_;
  float scale_ = 1;
  DType accum_ = DType::kF32, stored_ = DType::kF32;
  DType last_ = DType::kF32;  ///< the type in which the last step computes
  std::vector<Operand> operands_;
};

}  // namespace lehr
