// The product of codegen, which measurement consumes: text, entry, launch shape. A third party can compile
// and launch it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/dtype.h"
#include "base/target.h"
#include "ir/launch.h"

namespace lehr {

struct SourceParam {
  std::string name;
  DType type = DType::kF32;
  std::int64_t elements = 0;
  ir::Direction direction = ir::Direction::kIn;
  /// For CUDA: if given, the argument is not the tensor's address but a tensor map of it: 128 bytes by value,
  /// which cuTensorMapEncodeTiled (or, with im2col, cuTensorMapEncodeIm2col) makes from the address.
  std::optional<ir::TensorMap> map = std::nullopt;
};

/// CUDA: `extern "C" __global__ void entry(const float* a, const float* b, float* c)`, launched once with
/// `launch`. Workspaces (ir::Direction::kWorkspace) come after the tensors, each aligned to 256 bytes. All
/// their bytes are zero before the first launch; from then on only the kernel writes them. With
/// launch.programmatic, launches on one stream may overlap, although they share workspaces.
///
/// CPU: `extern "C" void entry(void* const* params, void* scratch, long task)`. The caller first calls it for
/// each `task` below launch.work_items, concurrently or not: these are the work items of the first step. When
/// all calls have returned, it calls it for the next launch.work_items values of `task`, and so on for
/// launch.steps() steps in all. `scratch` is aligned to 64 bytes, `scratch_bytes` long and private to the
/// call. Workspaces come after the tensors, each aligned to 64 bytes; their contents are undefined. Prepacked
/// parameters (ir::Direction::kPrepacked) come after the tensors, too, each aligned to 64 bytes. The function
/// `entry_prepack`, of the same type, fills them. It is called in the same way for each work item in [0,
/// launch.prepack_work_items) before the first launch, and again whenever an input that it reads has changed.
/// It uses no scratch memory.
struct Source {
  Target target;
  std::string text;  ///< complete: includes its part of the device-intrinsics prelude
  std::string entry;
  std::vector<SourceParam> params;  ///< in argument order
  ir::Launch launch;
  std::int64_t scratch_bytes = 0;
  /// For the CPU: maximum number of rows of a call. If it is not 0, there is one more argument after all of
  /// `params`: a pointer to the number of rows, an int64 from 1 to this maximum. `entry_prepack` does not get
  /// that argument. 0: the number of rows is fixed.
  std::int64_t most_rows = 0;
};

/// Returns the sizes of the workspace parameters, in the order of the arguments.
std::vector<std::int64_t> workspace_bytes(const Source& source);
/// Returns the sizes of the prepacked parameters, in the order of the arguments.
std::vector<std::int64_t> prepacked_bytes(const Source& source);
/// Returns the name of the function that fills the prepacked parameters.
std::string prepack_entry(std::string_view entry);
/// Returns a hash of the text of the prepacking function. Sources with the same hash share the prepacked
/// data. "" if nothing is prepacked.
std::string prepack_layout(const Source& source);

}  // namespace lehr
