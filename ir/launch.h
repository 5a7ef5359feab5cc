// How a kernel is launched, and the roles of its parameters in a launch. To measure, store or export a
// kernel, only this and the kernel's text are needed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lehr::ir {

enum class Direction {
  kIn,
  kOut,
  /// Memory for intermediate results of a launch. Two launches that run at the same time never share it. On
  /// CUDA all its bytes are zero before the first launch, and the kernel must leave at zero those bytes that
  /// the next launch expects to be zero. On the CPU its contents are undefined. Workspaces come after all
  /// other parameters.
  kWorkspace,
  /// For the CPU: memory that Kernel::prepack fills from inputs that stay the same from launch to launch
  /// (e.g. a filter). The body only reads it. Comes after all other parameters.
  kPrepacked
};
/// Returns "in", "out", "workspace", "prepacked".
std::string_view name_of(Direction direction);

/// How the tensor memory accelerator (TMA) reads the pixels of images, a tensor of (c, w, h, n), as the rows
/// of a matrix. The members are arguments of the driver's cuTensorMapEncodeIm2col (PTX ISA 9.0, "Tensors:
/// im2col mode").
///
/// An instruction names a position (c, w, h, n) and an offset (w, h), which selects a tap of the filter. The
/// position's w and h lie in the bounding box, which reaches from `lower` to dims - 1 + `upper`. The
/// instruction reads `pixels` pixels, beginning with the position. The next pixel is step[0] further along w;
/// after the end of a line of the bounding box it continues at lower[0] of the line that is step[1] further,
/// and after the last line at `lower` of the next image. The offset is added to the coordinates of each
/// pixel. Pixels outside of the tensor read as zero.
struct Im2col {
  /// Limits of the driver and the instruction along w and h, for tensors of four dimensions: corners of the
  /// bounding box, steps (elementStrides), offsets of an instruction.
  static constexpr std::int64_t kLeastCorner = -128, kMostCorner = 127, kMostStep = 8, kMostOffset = 255;
  std::int64_t pixels = 0;
  /// Corners of the bounding box along w and h; `upper` counts from the last pixel.
  std::array<std::int64_t, 2> lower{}, upper{};
  std::array<std::int64_t, 2> step = {1, 1};  ///< steps along w and h: the strides of a convolution
  friend bool operator==(const Im2col&, const Im2col&) = default;
};

/// How the tensor memory accelerator sees a global buffer: as a tensor of up to four dimensions, innermost
/// first. The members are arguments of the driver's cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map
/// Object Management", which states the limits that verify.cpp checks). Elements of a box outside of the
/// tensor read as zero and are not written.
struct TensorMap {
  static constexpr int kMaxRank = 4;
  int rank = 2;
  /// Number of elements along each dimension.
  std::array<std::int64_t, kMaxRank> dims{};
  /// Elements between neighbours along each dimension; 1 for the innermost one.
  std::array<std::int64_t, kMaxRank> strides{};
  /// Number of elements that one instruction copies along each dimension.
  std::array<std::int64_t, kMaxRank> box{};
  /// If given, the tensor is read in im2col mode, and of `box` only the extent along the channels is used.
  std::optional<Im2col> im2col = std::nullopt;
  /// Swizzle in bytes: 0 (no swizzle), 32, 64 or 128. It permutes the 16-byte chunks of a box in shared
  /// memory.
  std::int64_t swizzle = 0;
  /// Whether f32 elements are rounded to tf32 while they are copied.
  bool tf32 = false;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

/// Grid and block (CUDA) or number of work items (CPU), read off the kernel's loops.
struct Launch {
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<std::int64_t, 3> block = {1, 1, 1};
  /// Bytes of all kShared buffers that have memory of their own. Each size is rounded up to the buffer's
  /// alignment.
  std::int64_t shared_bytes = 0;
  /// For the CPU: number of work items of each kParallel loop, i.e. its extent.
  std::int64_t work_items = 1;
  /// For the CPU: number of kParallel loops after the first one. Call t of the kernel's function executes
  /// work item t % work_items of loop t / work_items. It begins when all work items of the loop before have
  /// ended.
  std::int64_t further_steps = 0;
  /// For the CPU: number of work items of Kernel::prepack; 0 if nothing is prepacked.
  std::int64_t prepack_work_items = 0;
  /// Kernel::cluster. It is compiled into the kernel; the launch need not specify it.
  std::int64_t cluster = 1;
  /// Kernel::programmatic: the launch has the attribute
  /// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION. The kernel's result is correct without the
  /// attribute, too.
  bool programmatic = false;
  /// Returns the number of kParallel loops.
  std::int64_t steps() const { return 1 + further_steps; }
  friend bool operator==(const Launch&, const Launch&) = default;
};

}  // namespace lehr::ir
