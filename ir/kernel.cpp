// KernelBuilder, the loop builders, and the launch shape that a kernel's loops declare.
#include "ir/kernel.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <iterator>

#include "base/error.h"
#include "base/overloaded.h"

namespace lehr::ir {
namespace {

// The entry of `launch` that a loop kind sets; nullptr for kinds that set none.
std::int64_t* launch_entry(Launch& launch, LoopKind kind) {
  switch (kind) {
    case LoopKind::kSerial:
    case LoopKind::kUnrolled:
    case LoopKind::kRolled:
      return nullptr;
    case LoopKind::kParallel:
      return &launch.tasks;
    case LoopKind::kBlockX:
    case LoopKind::kBlockY:
    case LoopKind::kBlockZ:
      return &launch.grid[static_cast<std::size_t>(kind) - static_cast<std::size_t>(LoopKind::kBlockX)];
    case LoopKind::kThreadX:
    case LoopKind::kThreadY:
    case LoopKind::kThreadZ:
      return &launch.block[static_cast<std::size_t>(kind) - static_cast<std::size_t>(LoopKind::kThreadX)];
  }
  return nullptr;
}

void collect(const Block& block, LaunchLoops& loops) {
  for (const Stmt& stmt : block) {
    if (const For* loop = std::get_if<For>(&stmt.node)) {
      loops.add(*loop);
      collect(loop->body, loops);
    } else if (const If* branch = std::get_if<If>(&stmt.node)) {
      collect(branch->then, loops);
      collect(branch->otherwise, loops);
    }
  }
}

// "i", 2 -> "i_2".
std::string numbered(std::string_view stem, int number) {
  std::array<char, 12> digits;
  const char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  std::string name;
  name.reserve(stem.size() + 1 + static_cast<std::size_t>(end - digits.data()));
  return name.append(stem).append(1, '_').append(digits.data(),
                                                 static_cast<std::size_t>(end - digits.data()));
}

}  // namespace

void LaunchLoops::add(const For& loop) {
  std::int64_t* const entry = launch_entry(bound_, loop.kind);
  if (entry == nullptr) return;
  const unsigned bit = 1u << static_cast<unsigned>(loop.kind);
  CHECK((seen_ & bit) == 0 || *entry == loop.bound,
        "two loops bind the same launch dimension with extents {} and {}", *entry, loop.bound);
  seen_ |= bit;
  *entry = loop.bound;
}

Launch launch_of(const Kernel& kernel) {
  LaunchLoops loops;
  collect(kernel.body, loops);
  return launch_of(kernel, loops);
}

Launch launch_of(const Kernel& kernel, const LaunchLoops& loops) {
  Launch launch = loops.bound();
  launch.cluster = kernel.cluster;
  launch.programmatic = kernel.programmatic;
  if (!kernel.prepack.empty()) {
    LaunchLoops prepack;
    collect(kernel.prepack, prepack);
    launch.prepack_tasks = prepack.bound().tasks;
  }
  for (const Buffer& buffer : kernel.buffers)
    if (buffer.scope == Scope::kShared && !buffer.in_place_of)
      launch.shared_bytes += (buffer.elements * size_of(buffer.type) + buffer.alignment - 1) /
                             buffer.alignment * buffer.alignment;
  return launch;
}

std::string_view name_of(Direction direction) {
  switch (direction) {
    case Direction::kIn:
      return "in";
    case Direction::kOut:
      return "out";
    case Direction::kWorkspace:
      return "workspace";
    case Direction::kPrepacked:
      return "prepacked";
  }
  return "?";
}

std::int64_t TensorMap::box_elements() const {
  if (im2col) return box[0] * im2col->pixels;
  std::int64_t elements = 1;
  for (int d = 0; d < rank; ++d) elements *= box[static_cast<std::size_t>(d)];
  return elements;
}

const Param* Kernel::param_of(BufferId id) const {
  for (const Param& param : params)
    if (param.buffer == id) return &param;
  return nullptr;
}

KernelBuilder::KernelBuilder() {
  // What a GEMM with its edge tiles needs, so that nothing grows.
  kernel.vars.reserve(48);
  kernel.buffers.reserve(16);
  kernel.params.reserve(8);
  stems_.reserve(32);
}

// Two stems of one hash would share their numbers, and have unique names still.
std::string KernelBuilder::unique_name(std::string_view stem) {
  CHECK(!stem.empty());
  const std::size_t hash = std::hash<std::string_view>{}(stem);
  int& slot = slots_[hash % slots_.size()];
  for (int i = slot; i != 0;) {
    Stem& known = stems_[static_cast<std::size_t>(i - 1)];
    if (known.hash == hash) return numbered(stem, ++known.uses);
    i = known.next;
  }
  // So that no stem can be another one's second use.
  const std::size_t last = stem.find_last_not_of("0123456789");
  CHECK(last != std::string_view::npos && (last + 1 == stem.size() || stem[last] != '_'),
        "the name {} ends like a suffix", stem);
  stems_.push_back({hash, 1, slot});
  slot = static_cast<int>(stems_.size());
  return std::string(stem);
}

VarId KernelBuilder::var(std::string_view name) {
  kernel.vars.push_back(unique_name(name));
  return static_cast<VarId>(kernel.vars.size() - 1);
}

BufferId KernelBuilder::buffer(std::string_view name, DType type, Scope scope, std::int64_t elements,
                               int lanes) {
  kernel.buffers.push_back({unique_name(name), type, scope, elements, lanes, 16});
  return static_cast<BufferId>(kernel.buffers.size() - 1);
}

BufferId KernelBuilder::param(std::string_view name, DType type, std::int64_t elements, Direction direction) {
  const BufferId id = buffer(name, type, Scope::kGlobal, elements);
  kernel.params.push_back({id, direction, std::nullopt});
  return id;
}

void append(Block& to, Block from) {
  if (to.empty()) {
    to = std::move(from);
    return;
  }
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

Stmt loop(VarId var, std::int64_t extent, LoopKind kind, Block body) {
  return For{var, Int{extent}, extent, kind, std::move(body)};
}

Stmt loop_to(VarId var, Expr extent, std::int64_t bound, Block body, LoopKind kind) {
  return For{var, std::move(extent), bound, kind, std::move(body)};
}

}  // namespace lehr::ir
