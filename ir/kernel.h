// A kernel: parameters, launch shape, body. What templates lower to, what is printed as source and summarised
// as features.
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
  /// kShared: its address is a multiple of so many bytes, a power of two of at least 16. Stricter ones are
  /// allocated first.
  std::int64_t alignment = 16;
  /// kShared: it has no memory of its own, but lies where this other buffer begins, and within it. Whoever
  /// writes it does so behind the last use of that one, and behind a barrier.
  std::optional<BufferId> in_place_of = std::nullopt;
  friend bool operator==(const Buffer&, const Buffer&) = default;
};

struct Param {
  BufferId buffer{};
  Direction direction = Direction::kIn;
  /// CUDA: the argument is this map of the buffer, not its address.
  std::optional<TensorMap> map = std::nullopt;
  /// One element that a CPU's kernel reads once, when it begins: a compiler that sees bytes being written
  /// would read it again and again.
  bool is_number = false;
  friend bool operator==(const Param&, const Param&) = default;
};

/// How many rows of its tensors there are: an argument of each call of a CPU's kernel, which extents may
/// depend on.
struct Rows {
  VarId var{};             ///< bound before the body begins
  std::int64_t most = 0;   ///< what buffers have room for; at least one is there
  std::int64_t usual = 0;  ///< what analysis takes it to be
  friend bool operator==(const Rows&, const Rows&) = default;
};

struct Kernel {
  std::string name;  ///< entry point's name: a C identifier
  Target target;
  /// VarId -> what its name begins with. The names themselves, which are unique, are var_names()'s: most
  /// kernels are never printed.
  std::vector<StaticText> vars;
  std::vector<Buffer> buffers;  ///< BufferId -> buffer
  std::vector<Param> params;    ///< in the order of the entry's arguments; all kGlobal
  Block body;
  /// CPU: fills the kPrepacked parameters, once before the first launch and again whenever an input that it
  /// reads has changed. One kParallel loop, as in the body. Empty: nothing is prepacked. Neither launch_of()
  /// (but for prepack_parts) nor analyze() looks into it: it is no part of what is timed.
  Block prepack;
  int min_blocks_per_core = 0;  ///< CUDA launch bounds; 0: not stated
  /// CUDA: so many neighbouring blocks along x run at the same time and reach each other's shared memory and
  /// barriers (CUDA C++ Programming Guide 13.0, "Thread Block Clusters"); block b is number b % cluster of
  /// its cluster. 1: none.
  int cluster = 1;
  /// CUDA: its launch may begin while the kernel before it on the stream still runs, and it lets the next one
  /// begin before it has ended (CUDA C++ Programming Guide 13.0, "Programmatic Dependent Launch"). Every
  /// thread executes griddepcontrol_wait before it touches a parameter, workspaces included: behind it all
  /// earlier launches have ended, and what they wrote is seen.
  bool programmatic = false;
  /// Not of prepack, which knows no rows.
  std::optional<Rows> rows = std::nullopt;
  friend bool operator==(const Kernel&, const Kernel&) = default;

  const Buffer& buffer(BufferId id) const { return buffers[static_cast<std::size_t>(id)]; }
  /// One of var_names().
  std::string name_of(VarId id) const;
  /// The parameter of this buffer; nullptr for a buffer that is none.
  const Param* param_of(BufferId id) const;
};

/// The names of all variables: C identifiers that no other variable and no buffer has. The further uses of
/// one are numbered in the order in which the body binds them, those of buffers first ("i", "i_2"): not in
/// the order of their ids, which a template's compiler may choose (it is free to evaluate arguments in any
/// order).
std::vector<std::string> var_names(const Kernel& kernel);

/// The part of a launch that loops bind, gathered by whoever walks them anyway.
class LaunchLoops {
 public:
  /// Every loop of a body, in any order. Throws Error(kInternal) where two bind one dimension differently.
  void add(const For& loop);
  /// Grid, block, parts and steps.
  const Launch& bound() const { return bound_; }

 private:
  Launch bound_;
  unsigned seen_ = 0;  // a bit per LoopKind
};
Launch launch_of(const Kernel& kernel);
/// The same where all loops of the body are in `loops` already.
Launch launch_of(const Kernel& kernel, const LaunchLoops& loops);

/// Builds a kernel: hands out ids. Names are C identifiers that do not end in a number behind an underscore;
/// buffers of one name are numbered ("tile", "tile_2"), for variables see var_names(). A value; move `kernel`
/// out at the end.
class KernelBuilder {
 public:
  KernelBuilder();
  Kernel kernel;
  VarId var(StaticText name);
  /// Several at a time.
  struct NewVar {
    VarId& id;
    StaticText name;
  };
  void make_vars(std::initializer_list<NewVar> vars);
  BufferId buffer(std::string_view name, DType type, Scope scope, std::int64_t elements, int lanes = 1);
  BufferId param(std::string_view name, DType type, std::int64_t elements, Direction direction);
};

/// Loop builders: `loop` for a constant extent, `loop_to` for one that depends on outer variables.
Stmt loop(VarId var, std::int64_t extent, LoopKind kind, Block body);
Stmt loop_to(VarId var, Expr extent, std::int64_t bound, Block body, LoopKind kind = LoopKind::kSerial);
/// An unrolled loop of constant extent; there is none where it would run once.
class Unrolled {
 public:
  /// Hands out the loop's variable. Throws Error(kInternal) for an extent below 1.
  Unrolled(KernelBuilder& builder, StaticText name, std::int64_t extent);
  /// Its variable, or 0.
  const Expr at;
  /// `body`, which uses `at`, for each iteration. May be asked for several loops that follow each other.
  Block over(Block body) const;

 private:
  std::int64_t extent_;
};
/// Adds the statements of `from` to the end of `to`.
void append(Block& to, const Block& from);
/// `parts` as one block.
template <typename... Parts>
Block block(Parts... parts) {
  Block result;
  result.reserve(sizeof...(parts));
  (result.push_back(std::move(parts)), ...);
  return result;
}

}  // namespace lehr::ir
