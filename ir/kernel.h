// A kernel: parameters, launch shape, body. Templates produce it; codegen/ prints it as source, and
// costmodel/ computes features from it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/target.h"
#include "ir/launch.h"
#include "ir/stmt.h"

namespace lehr::ir {

struct Buffer {
  std::string name;
  DType type = DType::kF32;
  Scope scope = Scope::kGlobal;
  /// Number of scalar elements, padding included.
  std::int64_t elements = 0;
  /// For kRegister on the CPU: the array is kept as vectors of `lanes` elements. `elements` still counts
  /// scalars.
  int lanes = 1;
  /// For kShared: alignment of the address in bytes, a power of two of at least 16. Buffers with larger
  /// alignments are allocated first.
  std::int64_t alignment = 16;
  /// For kShared: the buffer has no memory of its own, but uses the beginning of this other buffer's memory
  /// and must fit into it. It may be written only after the last use of the other buffer and a barrier.
  std::optional<BufferId> in_place_of = std::nullopt;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct Param {
  BufferId buffer{};
  Direction direction = Direction::kIn;
  /// For CUDA: if given, the kernel's argument is this tensor map of the buffer instead of its address.
  std::optional<TensorMap> map = std::nullopt;
  /// Whether the parameter has one element, which a CPU kernel reads once at its beginning. Otherwise a
  /// compiler would reload it after every write of bytes, which might alias it.
  bool is_number = false;
  friend bool operator==(const Param&, const Param&) = default;
};

/// The number of rows of the tensors, if it is an argument of each call of a CPU kernel. Extents may depend
/// on it.
struct Rows {
  VarId var{};             ///< bound before the body begins
  std::int64_t most = 0;   ///< maximum number of rows, for which buffers have room; the minimum is one
  std::int64_t usual = 0;  ///< number of rows that analysis assumes
  friend bool operator==(const Rows&, const Rows&) = default;
};

struct Kernel {
  std::string name;  ///< entry point's name: a C identifier
  Target target;
  /// For each VarId, the name without the number that makes it unique. var_names() numbers the names only
  /// when they are needed, because most kernels are never printed.
  std::vector<StaticText> vars;
  std::vector<Buffer> buffers;  ///< indexed by BufferId
  std::vector<Param> params;    ///< in the order of the entry's arguments; all kGlobal
  Block body;
  /// For the CPU: statements that fill the kPrepacked parameters, one kParallel loop. They are executed once
  /// before the first launch, and again whenever an input that they read has changed. Empty if nothing is
  /// prepacked. Prepacking is not part of the measured time: launch_of() reads only prepack_work_items from
  /// it, and analyze() ignores it.
  Block prepack;
  /// For CUDA's launch bounds: minimum number of blocks on a multiprocessor; 0: not stated.
  int min_blocks_per_core = 0;
  /// For CUDA: number of blocks of a cluster. They are neighbours along x, run at the same time and can
  /// access each other's shared memory and barriers (CUDA C++ Programming Guide 13.0, "Thread Block
  /// Clusters"). Block b has rank b % cluster in its cluster. 1: no clusters.
  int cluster = 1;
  /// For CUDA: whether the launch may overlap with the kernels before and after it on the stream (CUDA C++
  /// Programming Guide 13.0, "Programmatic Dependent Launch"). Then every thread executes griddepcontrol_wait
  /// before it touches a parameter (workspaces included). After the wait all earlier launches have ended, and
  /// their writes are visible.
  bool programmatic = false;
  /// The number of rows, if the body depends on it. `prepack` never depends on it.
  std::optional<Rows> rows = std::nullopt;
  friend bool operator==(const Kernel&, const Kernel&) = default;

  const Buffer& buffer(BufferId id) const { return buffers[static_cast<std::size_t>(id)]; }
  /// Returns the variable's name as in var_names().
  std::string name_of(VarId id) const;
  /// Returns the parameter that is this buffer; nullptr if the buffer is not a parameter.
  const Param* param_of(BufferId id) const;
};

/// Returns the names of all variables. Each is a C identifier that no other variable and no buffer has. If
/// several variables share a name, they are numbered in the order in which the body binds them ("i", "i_2");
/// numbers that buffers use are skipped. The order of ids is not used because it depends on the compiler of
/// the template (C++ leaves the order of evaluating arguments open).
std::vector<std::string> var_names(const Kernel& kernel);

/// Collects the launch values that loops bind while a walk visits them.
class LaunchLoops {
 public:
  /// Adds a loop. Every loop of the body must be added, in any order. Throws Error(kInternal) if two loops
  /// bind one dimension to different extents.
  void add(const For& loop);
  /// Returns the collected grid, block, work items and steps.
  const Launch& bound() const { return bound_; }

 private:
  Launch bound_;
  unsigned seen_ = 0;  // a bit per LoopKind
};
Launch launch_of(const Kernel& kernel);
/// Does the same if `loops` has all loops of the body already.
Launch launch_of(const Kernel& kernel, const LaunchLoops& loops);

/// Builds a kernel and numbers its variables and buffers. Names are C identifiers that do not end in an
/// underscore and a number. If several buffers have one name, they are numbered ("tile", "tile_2"); for
/// variables see var_names(). At the end, move `kernel` out of the builder.
class KernelBuilder {
 public:
  KernelBuilder();
  Kernel kernel;
  VarId var(StaticText name);
  /// Creates several variables in one call.
  struct NewVar {
    VarId& id;
    StaticText name;
  };
  void make_vars(std::initializer_list<NewVar> vars);
  BufferId buffer(std::string_view name, DType type, Scope scope, std::int64_t elements, int lanes = 1);
  BufferId param(std::string_view name, DType type, std::int64_t elements, Direction direction);
};

/// Build loops: `loop` with a constant extent, `loop_to` with an extent that depends on outer variables.
Stmt loop(VarId var, std::int64_t extent, LoopKind kind, Block body);
Stmt loop_to(VarId var, Expr extent, std::int64_t bound, Block body, LoopKind kind = LoopKind::kSerial);
/// An unrolled loop of constant extent. If the extent is 1, no loop is emitted.
class Unrolled {
 public:
  /// Creates the loop's variable. Throws Error(kInternal) for an extent below 1.
  Unrolled(KernelBuilder& builder, StaticText name, std::int64_t extent);
  /// The loop's variable, or 0 if there is no loop.
  const Expr at;
  /// Returns the loop over `body`, which uses `at`. May be called several times, for loops that follow each
  /// other.
  Block over(Block body) const;

 private:
  std::int64_t extent_;
};
/// Adds the statements of `from` to the end of `to`.
void append(Block& to, const Block& from);
/// Returns `parts` as one block.
template <typename... Parts>
Block block(Parts... parts) {
  Block result;
  result.reserve(sizeof...(parts));
  (result.push_back(std::move(parts)), ...);
  return result;
}

}  // namespace lehr::ir
