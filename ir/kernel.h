// A kernel: parameters, launch shape, body. Templates lower to it. It is printed as source and summarised as
// features.
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
  /// Scalar elements, padding included.
  std::int64_t elements = 0;
  /// kRegister on the CPU: `elements` counts scalars, but the array is kept as vectors of `lanes`.
  int lanes = 1;
  /// kShared: its address is a multiple of this many bytes, a power of two of at least 16. Buffers with
  /// larger alignments are allocated first.
  std::int64_t alignment = 16;
  /// kShared: it has no memory of its own but lies at the beginning of this other buffer, and within it. It
  /// may be written only after the last use of the other buffer, and after a barrier.
  std::optional<BufferId> in_place_of = std::nullopt;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct Param {
  BufferId buffer{};
  Direction direction = Direction::kIn;
  /// CUDA: the argument is this map of the buffer, not its address.
  std::optional<TensorMap> map = std::nullopt;
  /// Whether it is one element that a CPU's kernel reads once, when it begins. A compiler that sees bytes
  /// being written would otherwise read it again and again.
  bool is_number = false;
  friend bool operator==(const Param&, const Param&) = default;
};

/// The number of rows of the tensors: an argument of each call of a CPU's kernel. Extents may depend on it.
struct Rows {
  VarId var{};             ///< bound before the body begins
  std::int64_t most = 0;   ///< rows that buffers have room for; a call has at least one
  std::int64_t usual = 0;  ///< the number that analysis assumes
  friend bool operator==(const Rows&, const Rows&) = default;
};

struct Kernel {
  std::string name;  ///< entry point's name: a C identifier
  Target target;
  /// VarId -> beginning of its name. var_names() makes the names themselves, which are unique: most kernels
  /// are never printed.
  std::vector<StaticText> vars;
  std::vector<Buffer> buffers;  ///< BufferId -> buffer
  std::vector<Param> params;    ///< in the order of the entry's arguments; all kGlobal
  Block body;
  /// CPU: fills the kPrepacked parameters, once before the first launch and again whenever an input that it
  /// reads has changed. One kParallel loop, as in the body. Empty: nothing is prepacked. launch_of() reads
  /// only prepack_work_items from it, and analyze() does not look into it: it is not part of what is timed.
  Block prepack;
  int min_blocks_per_core = 0;  ///< CUDA launch bounds; 0: not stated
  /// CUDA: number of neighbouring blocks along x that run at the same time and reach each other's shared
  /// memory and barriers (CUDA C++ Programming Guide 13.0, "Thread Block Clusters"). Block b is number b %
  /// cluster of its cluster. 1: no clusters.
  int cluster = 1;
  /// CUDA: its launch may begin while the kernel before it on the stream still runs, and it lets the next one
  /// begin before it has ended (CUDA C++ Programming Guide 13.0, "Programmatic Dependent Launch"). Every
  /// thread executes griddepcontrol_wait before it touches a parameter, workspaces included. After that all
  /// earlier launches have ended, and their writes are visible.
  bool programmatic = false;
  /// Rows of the body. prepack does not depend on rows.
  std::optional<Rows> rows = std::nullopt;
  friend bool operator==(const Kernel&, const Kernel&) = default;

  const Buffer& buffer(BufferId id) const { return buffers[static_cast<std::size_t>(id)]; }
  /// Returns one of var_names().
  std::string name_of(VarId id) const;
  /// Returns the parameter of this buffer; nullptr if the buffer is not a parameter.
  const Param* param_of(BufferId id) const;
};

/// Returns the names of all variables: C identifiers that no other variable and no buffer has. Further uses
/// of one name are numbered in the order in which the body binds them, those of buffers first ("i", "i_2").
/// The order of ids would not do: a template's compiler may choose it (it is free to evaluate arguments in
/// any order).
std::vector<std::string> var_names(const Kernel& kernel);

/// The launch values that loops bind, gathered during a walk over them.
class LaunchLoops {
 public:
  /// Adds a loop. Every loop of a body is added, in any order. Throws Error(kInternal) if two bind one
  /// dimension differently.
  void add(const For& loop);
  /// Returns grid, block, work items and steps.
  const Launch& bound() const { return bound_; }

 private:
  Launch bound_;
  unsigned seen_ = 0;  // a bit per LoopKind
};
Launch launch_of(const Kernel& kernel);
/// Does the same if all loops of the body are in `loops` already.
Launch launch_of(const Kernel& kernel, const LaunchLoops& loops);

/// Builds a kernel: hands out ids. Names are C identifiers that do not end in a number behind an underscore.
/// Buffers of one name are numbered ("tile", "tile_2"); for variables see var_names(). A value; move `kernel`
/// out at the end.
class KernelBuilder {
 public:
  KernelBuilder();
  Kernel kernel;
  VarId var(StaticText name);
  /// Makes several variables at a time.
  struct NewVar {
    VarId& id;
    StaticText name;
  };
  void make_vars(std::initializer_list<NewVar> vars);
  BufferId buffer(std::string_view name, DType type, Scope scope, std::int64_t elements, int lanes = 1);
  BufferId param(std::string_view name, DType type, std::int64_t elements, Direction direction);
};

/// Build loops: `loop` with a constant extent, `loop_to` with one that depends on outer variables.
Stmt loop(VarId var, std::int64_t extent, LoopKind kind, Block body);
Stmt loop_to(VarId var, Expr extent, std::int64_t bound, Block body, LoopKind kind = LoopKind::kSerial);
/// An unrolled loop of constant extent. If it would run once, no loop is made.
class Unrolled {
 public:
  /// Creates the loop's variable. Throws Error(kInternal) for an extent below 1.
  Unrolled(KernelBuilder& builder, StaticText name, std::int64_t extent);
  /// Its variable, or 0.
  const Expr at;
  /// Returns `body`, which uses `at`, for each iteration. Several loops that follow each other may be made.
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
