// KernelBuilder, the loop builders, and the launch shape that a kernel's loops declare.
#include "ir/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/error.h"
#include "base/overloaded.h"

namespace lehr::ir {
namespace {

// Returns the entry of `launch` that a loop of this kind sets; nullptr for other kinds.
std::int64_t* launch_entry(Launch& launch, LoopKind kind) {
  switch (kind) {
    case LoopKind::kSerial:
    case LoopKind::kUnrolled:
    case LoopKind::kRolled:
      return nullptr;
    case LoopKind::kParallel:
      return &launch.work_items;
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

/// Returns "i" for "i_2".
std::string_view stem_of(std::string_view name) {
  const std::size_t last = name.find_last_not_of("0123456789");
  const bool ends_in_number = last != std::string_view::npos && last + 1 < name.size() && name[last] == '_';
  return ends_in_number ? name.substr(0, last) : name;
}

/// Returns the `number`-th name with this stem.
std::string numbered(std::string_view stem, int number) {
  CHECK(!stem.empty() && stem_of(stem) == stem, "the name '{}' ends like a number", stem);
  std::string name(stem);
  if (number > 1) name.append("_").append(fmt::format_int(number).c_str());
  return name;
}

/// Calls `visit` with each variable that `block` binds, in the order of the emitted text.
template <typename Visit>
void for_each_bound(const Block& block, const Visit& visit) {
  for (const Stmt& stmt : block) {
    if (const Let* let = std::get_if<Let>(&stmt.node)) {
      visit(static_cast<std::size_t>(let->var));
    } else if (const For* loop = std::get_if<For>(&stmt.node)) {
      visit(static_cast<std::size_t>(loop->var));
      for_each_bound(loop->body, visit);
    } else if (const If* branch = std::get_if<If>(&stmt.node)) {
      for_each_bound(branch->then, visit);
      for_each_bound(branch->otherwise, visit);
    }
  }
}

}  // namespace

void LaunchLoops::add(const For& loop) {
  std::int64_t* const entry = launch_entry(bound_, loop.kind);
  if (entry == nullptr) return;
  const unsigned bit = 1u << static_cast<unsigned>(loop.kind);
  CHECK((seen_ & bit) == 0 || *entry == loop.bound,
        "two loops bind the same launch dimension with extents {} and {}", *entry, loop.bound);
  if (loop.kind == LoopKind::kParallel && (seen_ & bit) != 0) ++bound_.further_steps;
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
    launch.prepack_work_items = prepack.bound().work_items;
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

std::string Kernel::name_of(VarId id) const {
  return var_names(*this)[static_cast<std::size_t>(id)];
}

std::vector<std::string> var_names(const Kernel& kernel) {
  std::unordered_map<std::string_view, int> uses;
  for (const Buffer& buffer : kernel.buffers) ++uses[stem_of(buffer.name)];
  std::vector<std::string> names(kernel.vars.size());
  const auto give_name = [&](std::size_t var) {
    if (var < names.size() && names[var].empty())
      names[var] = numbered(kernel.vars[var], ++uses[kernel.vars[var]]);
  };
  if (kernel.rows) give_name(static_cast<std::size_t>(kernel.rows->var));
  for_each_bound(kernel.body, give_name);
  for_each_bound(kernel.prepack, give_name);
  for (std::size_t var = 0; var < names.size(); ++var) give_name(var);
  return names;
}

const Param* Kernel::param_of(BufferId id) const {
  for (const Param& param : params)
    if (param.buffer == id) return &param;
  return nullptr;
}

KernelBuilder::KernelBuilder() {
  // Enough for a GEMM with its edge tiles, so that the vectors do not grow.
  kernel.vars.reserve(48);
  kernel.buffers.reserve(16);
  kernel.params.reserve(8);
}

VarId KernelBuilder::var(StaticText name) {
  kernel.vars.push_back(name);
  return static_cast<VarId>(kernel.vars.size() - 1);
}

void KernelBuilder::make_vars(std::initializer_list<NewVar> vars) {
  for (const NewVar& each : vars) each.id = var(each.name);
}

BufferId KernelBuilder::buffer(std::string_view name, DType type, Scope scope, std::int64_t elements,
                               int lanes) {
  const auto is_namesake = [&](const Buffer& b) {
    return b.name.front() == name.front() && b.name.starts_with(name) && stem_of(b.name) == name;
  };
  const auto before = static_cast<int>(std::ranges::count_if(kernel.buffers, is_namesake));
  kernel.buffers.push_back({numbered(name, 1 + before), type, scope, elements, lanes, 16});
  return static_cast<BufferId>(kernel.buffers.size() - 1);
}

BufferId KernelBuilder::param(std::string_view name, DType type, std::int64_t elements, Direction direction) {
  const BufferId id = buffer(name, type, Scope::kGlobal, elements);
  kernel.params.push_back({id, direction, std::nullopt});
  return id;
}

void append(Block& to, const Block& from) {
  to.append(from);
}

Stmt loop(VarId var, std::int64_t extent, LoopKind kind, Block body) {
  return For{var, Int{extent}, extent, kind, std::move(body)};
}

Stmt loop_to(VarId var, Expr extent, std::int64_t bound, Block body, LoopKind kind) {
  return For{var, std::move(extent), bound, kind, std::move(body)};
}

Unrolled::Unrolled(KernelBuilder& builder, StaticText name, std::int64_t extent)
    : at(extent == 1 ? integer(0) : ir::var(builder.var(name))), extent_(extent) {
  CHECK(extent >= 1, "an unrolled loop of {} iterations", extent);
}

Block Unrolled::over(Block body) const {
  if (const auto looped = at.as_var())
    return block(loop(looped->id, extent_, LoopKind::kUnrolled, std::move(body)));
  return body;
}

}  // namespace lehr::ir
