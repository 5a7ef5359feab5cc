// How a kernel is launched, and the roles of its parameters in a launch. Measuring, storing and exporting
// need only this and the text of a kernel.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lehr::ir {

enum class Direction {
  kIn,
  kOut,
  /// Memory that the launch may use as it likes. Never shared by two launches that run at the same time.
  /// CUDA: all bytes are zero before the first launch that gets it. Bytes that must be zero again before the
  /// next launch, the kernel leaves zero. CPU: it holds anything. Comes after all other parameters.
  kWorkspace,
  /// CPU: memory that Kernel::prepack fills from inputs that stay the same from launch to launch (a filter).
  /// The body only reads it. Comes after all other parameters.
  kPrepacked
};
/// Returns "in", "out", "workspace", "prepacked".
std::string_view name_of(Direction direction);

/// How the tensor memory accelerator (TMA) reads the pixels of images, a tensor of (c, w, h, n), as the rows
/// of a matrix: the arguments of the driver's cuTensorMapEncodeIm2col besides the tensor (PTX ISA 9.0,
/// "Tensors: im2col mode"). An instruction names a position (c, w, h, n), whose w and h lie in the bounding
/// box from `lower` to dims - 1 + `upper`, and an offset (w, h), a filter tap's. It reads `pixels` pixels:
/// first the position's, then those `step` further along w in the bounding box, then the lines step[1]
/// further from lower[0] on, then the next images from `lower` on. Each is moved by the offset. Pixels
/// outside of the tensor read as zero.
struct Im2col {
  /// Limits of the driver and the instruction along w and h, for tensors of four dimensions: corners of the
  /// bounding box, steps (elementStrides), offsets of an instruction.
  static constexpr std::int64_t kLeastCorner = -128, kMostCorner = 127, kMostStep = 8, kMostOffset = 255;
  std::int64_t pixels = 0;
  std::array<std::int64_t, 2> lower{}, upper{};  ///< w, h; upper: counted from the last pixel
  std::array<std::int64_t, 2> step = {1, 1};     ///< w, h: the strides of a convolution
  friend bool operator==(const Im2col&, const Im2col&) = default;
};

/// How the tensor memory accelerator sees a global buffer: as a tensor of up to four dimensions, innermost
/// first. The members are arguments of the driver's cuTensorMapEncodeTiled (CUDA Driver API, "Tensor Map
/// Object Management", which states the limits that verify.cpp checks). Elements of a box beyond the tensor
/// read as zero and are not written.
struct TensorMap {
  static constexpr int kMaxRank = 4;
  int rank = 2;
  /// Elements along each dimension.
  std::array<std::int64_t, kMaxRank> dims{};
  /// Elements between neighbours; the innermost is 1.
  std::array<std::int64_t, kMaxRank> strides{};
  /// Elements that one instruction moves along each dimension.
  std::array<std::int64_t, kMaxRank> box{};
  /// If given, only the channels of `box` count.
  std::optional<Im2col> im2col = std::nullopt;
  /// Bytes: 0, 32, 64, 128. The 16-byte chunks of a box are permuted in shared memory.
  std::int64_t swizzle = 0;
  /// Whether f32 elements are rounded to tf32 on their way.
  bool tf32 = false;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

/// Grid and block (CUDA) or number of work items (CPU), read off the kernel's loops.
struct Launch {
  std::array<std::int64_t, 3> grid = {1, 1, 1};
  std::array<std::int64_t, 3> block = {1, 1, 1};
  /// Bytes of all kShared buffers with memory of their own, rounded up to their alignments.
  std::int64_t shared_bytes = 0;
  /// CPU: work items of each kParallel loop, its extent.
  std::int64_t work_items = 1;
  /// CPU: kParallel loops that follow the first one. Call t of the entry is work item t % parts of loop
  /// t / parts. It begins when all work items of the loop before have ended.
  std::int64_t further_steps = 0;
  /// CPU: work items of Kernel::prepack; 0: nothing is prepacked.
  std::int64_t prepack_work_items = 0;
  /// Kernel::cluster. It is compiled into the kernel; the launch need not give it.
  std::int64_t cluster = 1;
  /// Kernel::programmatic: the launch has the attribute
  /// CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION. Without it the kernel is right as well.
  bool programmatic = false;
  /// Returns the number of kParallel loops.
  std::int64_t steps() const { return 1 + further_steps; }
  friend bool operator==(const Launch&, const Launch&) = default;
};

}  // namespace lehr::ir
