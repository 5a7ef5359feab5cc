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

/// Statements in order: a value. Copies share them until one of them is changed.
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

  /// Makes room for `size` statements in all.
  void reserve(std::size_t size);
  void push_back(Stmt statement);
  void push_front(Stmt statement);
  void append(const Block& statements);

  friend bool operator==(const Block& x, const Block& y);

 private:
  /// Returns the statements for a change: not shared by any other block.
  std::vector<Stmt>& own();
  std::shared_ptr<std::vector<Stmt>> statements_;  // null: empty
};

/// for (var = 0; var < extent; ++var) body. In a loop over tiles the body multiplies the variable by the
/// tile's size. `extent` may depend on outer variables for kSerial; it is a constant for every other kind.
/// `bound` is the largest value of `extent`, and equal to it when it is constant. If `extent` follows from
/// Kernel::rows, it is the extent for the usual rows. Analysis and features use it.
struct For {
  VarId var{};
  Expr extent = Int{0};
  std::int64_t bound = 0;
  LoopKind kind = LoopKind::kSerial;
  Block body;
  friend bool operator==(const For&, const For&);
};
/// buffer[index .. index+lanes) = value, where lanes is the value's. `active` as in Load: lanes beyond it are
/// not written. `streaming` (CPU, to parameters) writes past the caches, for data that is not read soon. It
/// is a hint, which only aligned whole vectors of f32 follow. All writes of a work item are visible to others
/// when it has ended.
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
  /// CUDA: number of the arriving threads that take `then`, if their numbers alone decide and all blocks are
  /// alike (warp specialisation). Analysis counts by it. 0: not stated.
  std::int64_t threads = 0;
  friend bool operator==(const If&, const If&);
};
/// Names an integer value for the rest of the enclosing block.
struct Let {
  VarId var{};
  Expr value = Int{0};
  /// Whether the lanes of a warp agree on the value, and the text says so. If the value depends on a thread's
  /// number, a compiler cannot see that, and keeps all that follows from it once for each lane.
  bool uniform = false;
  friend bool operator==(const Let&, const Let&) = default;
};
/// `buffer` (kRegister, kScratch or kShared) lives from here to the end of the enclosing block; contents
/// undefined.
struct Alloc {
  BufferId buffer{};
  friend bool operator==(const Alloc&, const Alloc&) = default;
};
struct Barrier {
  BarrierScope scope = BarrierScope::kBlock;
  friend bool operator==(const Barrier&, const Barrier&) = default;
};

/// The use of one buffer by an intrinsic. With it analysis need not know intrinsics by name.
struct Touch {
  BufferId buffer{};
  /// First element.
  Expr index = Int{0};
  /// Elements touched by one execution (by one thread).
  std::int64_t elements = 0;
  /// Whether it is written. It may be read too (the accumulators of an mma).
  bool writes = false;
  /// Number of runs of equal length in which the elements lie, `row_stride` elements apart (TMA boxes).
  std::int64_t rows = 1;
  std::int64_t row_stride = 0;
  /// Whether elements outside of the tensor are left out.
  bool partial = false;
  /// Number of blocks of the cluster whose shared memory is touched alike (multicast).
  std::int64_t copies = 1;
  friend bool operator==(const Touch&, const Touch&) = default;
};

/// An operation whose text is in the device-intrinsics header (codegen/): prefetch, cp.async, ... Its pointer
/// arguments are the touches in order; the integer arguments follow.
struct Intrinsic {
  StaticText name;  ///< "prefetch", "cp_async_16", "ldmatrix_x4", ...
  std::vector<Touch> touches;
  std::vector<Expr> args;
  double flops = 0;  ///< flops of one thread: a warp's mma divided by 32
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

/// Calls `visitor` with the statement itself. Unlike std::visit it is a chain of comparisons, the most
/// frequent kinds first, which processors predict better than a jump and compilers expand in place.
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
