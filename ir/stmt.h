// Statements of the loop-nest AST. Statements of a block run in order; loops run their iterations in order
// unless the kind says otherwise.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "ir/expr.h"
#include "ir/intrinsics.h"

namespace lehr::ir {

struct Stmt;

/// A sequence of statements with value semantics. Copies share the statements until one of them is changed.
class Block {
 public:
  Block() = default;
  Block(std::initializer_list<Stmt> statements);

  const Stmt* begin() const;
  const Stmt* end() const;
  std::size_t size() const;
  bool empty() const { return size() == 0; }
  const Stmt& operator[](std::size_t i) const;
  const Stmt& front() const { return *begin(); }
  const Stmt& back() const { return (*this)[size() - 1]; }

  /// Reserves memory for `size` statements in all.
  void reserve(std::size_t size);
  void push_back(Stmt statement);
  void push_front(Stmt statement);
  void append(const Block& statements);

  friend bool operator==(const Block& x, const Block& y);

 private:
  /// Returns the statements for modification, after copying them if another block shares them.
  std::vector<Stmt>& own();
  std::shared_ptr<std::vector<Stmt>> statements_;  // null: empty
};

/// for (var = 0; var < extent; ++var) body. In a loop over tiles, the body multiplies the variable by the
/// tile's size. `extent` may depend on outer variables if the kind is kSerial; for every other kind it is a
/// constant. `bound` is the largest value of `extent`, which analysis and features use; equal to `extent` if
/// that is constant. If `extent` depends on Kernel::rows, `bound` is the extent for the usual number of rows.
struct For {
  VarId var{};
  Expr extent = Int{0};
  std::int64_t bound = 0;
  LoopKind kind = LoopKind::kSerial;
  Block body;
  friend bool operator==(const For&, const For&);
};
/// buffer[index .. index + lanes) = value, where `lanes` is the number of lanes of the value. `active` is as
/// in Load: the other lanes are not written. `streaming` (on the CPU, for parameters) writes past the caches,
/// for data that is not read soon; only aligned whole vectors of f32 follow this hint. When a work item has
/// ended, its writes are visible to all others.
struct Store {
  BufferId buffer{};
  Expr index = Int{0};
  Expr value = Int{0};
  int lanes = 1;
  std::optional<Expr> active;
  bool streaming = false;
  friend bool operator==(const Store&, const Store&) = default;
};
struct If {
  Expr condition = Int{1};
  Block then;
  Block otherwise;
  /// For CUDA: number of threads that take `then`, if that depends only on the thread's number and is the
  /// same in all blocks (warp specialisation). Analysis multiplies by it. 0: not stated.
  std::int64_t threads = 0;
  friend bool operator==(const If&, const If&);
};
/// Defines an integer variable for the rest of the enclosing block.
struct Let {
  VarId var{};
  Expr value = Int{0};
  /// Whether all lanes of a warp have the same value, and the emitted text says so. If the value depends on
  /// the thread's number, the compiler cannot know that, and computes everything that depends on the value
  /// separately for each lane.
  bool uniform = false;
  friend bool operator==(const Let&, const Let&) = default;
};
/// Declares that `buffer` (kRegister, kScratch or kShared) lives from here to the end of the enclosing block.
/// Its contents are undefined at first.
struct Alloc {
  BufferId buffer{};
  friend bool operator==(const Alloc&, const Alloc&) = default;
};
struct Barrier {
  BarrierScope scope = BarrierScope::kBlock;
  friend bool operator==(const Barrier&, const Barrier&) = default;
};

/// The use of one buffer by an intrinsic. It gives analysis what it needs, so that analysis need not
/// distinguish intrinsics by name.
struct Touch {
  BufferId buffer{};
  /// Flat index of the first element.
  Expr index = Int{0};
  /// Number of elements that one execution touches (by one thread).
  std::int64_t elements = 0;
  /// Whether the buffer is written. It may be read as well (e.g. the accumulators of an mma).
  bool writes = false;
  /// Number of sequences into which the elements are divided evenly. They begin `row_stride` elements apart
  /// (e.g. the lines of a TMA box).
  std::int64_t rows = 1;
  std::int64_t row_stride = 0;
  /// Whether some of the elements may be skipped because they lie outside of the tensor.
  bool partial = false;
  /// Number of blocks of the cluster in whose shared memory the same elements are touched (multicast).
  std::int64_t copies = 1;
  friend bool operator==(const Touch&, const Touch&) = default;
};

/// An operation whose text is in the device-intrinsics header (codegen/): prefetch, cp.async, ... Its
/// arguments are the pointers of `touches`, in order, and then the integers of `args`.
struct Intrinsic {
  StaticText name;  ///< "prefetch", "cp_async_16", "ldmatrix_x4", ...
  std::vector<Touch> touches;
  std::vector<Expr> args;
  double flops = 0;  ///< flops of one thread; those of a warp's mma are divided by 32
  friend bool operator==(const Intrinsic&, const Intrinsic&) = default;
};

struct Stmt {
  std::variant<For, Store, If, Let, Alloc, Barrier, Intrinsic> node;
  template <typename Node>
  Stmt(Node n) : node(std::move(n)) {}  // NOLINT: implicit on purpose
  friend bool operator==(const Stmt&, const Stmt&) = default;
};

inline const Stmt* Block::begin() const {
  return statements_ != nullptr ? statements_->data() : nullptr;
}
inline const Stmt* Block::end() const {
  return begin() + size();
}
inline const Stmt& Block::operator[](std::size_t i) const {
  return begin()[i];
}
inline std::size_t Block::size() const {
  return statements_ != nullptr ? statements_->size() : 0;
}

/// Calls `visitor` with the statement itself. Unlike std::visit it compares the kinds one by one, the most
/// frequent first. Processors predict that better than a jump, and compilers inline it.
template <typename Visitor>
decltype(auto) visit(const Stmt& stmt, Visitor&& visitor) {
  if (const auto* node = std::get_if<Let>(&stmt.node)) return visitor(*node);
  if (const auto* node = std::get_if<For>(&stmt.node)) return visitor(*node);
  if (const auto* node = std::get_if<Intrinsic>(&stmt.node)) return visitor(*node);
  if (const auto* node = std::get_if<Store>(&stmt.node)) return visitor(*node);
  if (const auto* node = std::get_if<Alloc>(&stmt.node)) return visitor(*node);
  if (const auto* node = std::get_if<If>(&stmt.node)) return visitor(*node);
  return visitor(std::get<Barrier>(stmt.node));
}

inline bool operator==(const For& a, const For& b) {
  return a.var == b.var && a.extent == b.extent && a.bound == b.bound && a.kind == b.kind && a.body == b.body;
}
inline bool operator==(const If& a, const If& b) {
  return a.condition == b.condition && a.then == b.then && a.otherwise == b.otherwise &&
         a.threads == b.threads;
}

}  // namespace lehr::ir
