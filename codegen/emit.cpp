#include "codegen/emit.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/error.h"
#include "base/hash.h"
#include "base/overloaded.h"
#include "codegen/expr_text.h"
#include "ir/intrinsics.h"
#include "ir/uses.h"
#include "target/dialect.h"
#include "target/prelude.h"

namespace lehr {
namespace {

using namespace ir;

constexpr std::int64_t kScratchAlignment = 64;  // one cache line, one AVX-512 register

std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::string_view barrier_text(const Dialect& dialect, BarrierScope scope) {
  if (scope == BarrierScope::kBlock) return dialect.block_barrier;
  if (scope == BarrierScope::kWarp) return dialect.warp_barrier;
  return scope == BarrierScope::kCluster ? dialect.cluster_barrier : dialect.cluster_barrier_relaxed;
}

// Writes the body of one kernel. Scratch and shared buffers get their offsets in the order of their Allocs.
class Emitter {
 public:
  explicit Emitter(const Kernel& kernel)
      : kernel_(kernel), dialect_(dialect_of(kernel.target)), exprs_(kernel, snippets_) {}

  std::string body(const Block& block) {
    uses_ = uses_of(kernel_, block);
    streams_ = false;
    LaunchLoops loops;
    for (const Stmt& stmt : block)
      if (const For* loop = std::get_if<For>(&stmt.node)) loops.add(*loop);
    steps_ = loops.bound().steps();
    step_ = 0;
    write_block(block);
    if (streams_) write(Intrinsic{"stores_fence", {}, {}, 0});
    return std::exchange(text_, {});
  }
  const SnippetSet& snippets() const { return snippets_; }
  std::int64_t scratch_bytes() const { return scratch_bytes_; }
  std::int64_t shared_bytes() const { return shared_bytes_; }

 private:
  template <typename... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_.append(static_cast<std::size_t>(2 * indent_), ' ');
    fmt::format_to(std::back_inserter(text_), format, std::forward<Args>(args)...);
    text_ += '\n';
  }

  void write_block(const Block& block) {
    for (const Stmt& stmt : block) std::visit([&](const auto& node) { write(node); }, stmt.node);
  }
  void write_nested(const Block& block) {
    ++indent_;
    write_block(block);
    --indent_;
    line("}}");
  }

  void write(const For& loop) {
    const std::string& name = exprs_.name(loop.var);
    switch (loop.kind) {
      case LoopKind::kSerial:
      case LoopKind::kUnrolled:
      case LoopKind::kRolled:
        if (loop.kind == LoopKind::kRolled) text_ += fmt::format("{}\n", dialect_.no_unroll);
        if (loop.kind == LoopKind::kUnrolled) {
          if (dialect_.unroll_counted) {
            text_ += fmt::format("{}{}\n", dialect_.unroll_prefix, loop.bound);
          } else {
            text_ += fmt::format("{}\n", dialect_.unroll_prefix);
          }
        }
        line("for ({0} {1} = 0; {1} < {2}; ++{1}) {{", dialect_.index_type, name, exprs_.text(loop.extent));
        break;
      case LoopKind::kParallel:
        if (steps_ > 1) {
          write_step(loop);
          break;
        }
        line("{{  // parallel {} in 0..{}", name, loop.bound);
        write_index(loop.var, dialect_.launch_index(loop.kind));
        break;
      default:
        line("{{  // {} in 0..{}", name, loop.bound);
        write_index(loop.var, dialect_.launch_index(loop.kind));
    }
    write_nested(loop.body);
  }

  /// Begins one of several parallel loops.
  void write_step(const For& loop) {
    const std::string_view task = dialect_.launch_index(loop.kind);
    line("if ({} / {} == {}) {{  // parallel {} in 0..{}", task, loop.bound, step_++, exprs_.name(loop.var),
         loop.bound);
    write_index(loop.var, fmt::format("{} % {}", task, loop.bound));
  }

  void write_index(VarId var, std::string_view value) {
    if (!is_read(var)) return;
    ++indent_;
    line("const {} {} = {};", dialect_.index_type, exprs_.name(var), value);
    --indent_;
  }
  // Unused variables are omitted from the text: compilers warn of them, and readers look for their uses.
  bool is_read(VarId var) const { return uses_.vars[static_cast<std::size_t>(var)]; }

  void write(const Store& store) {
    const Buffer& buffer = kernel_.buffer(store.buffer);
    const std::string value = exprs_.text(store.value);
    if (store.active) {
      line("lehr_store{}_n({}, {}, {});", exprs_.masked_suffix(buffer.type, store.lanes),
           exprs_.address(store.buffer, store.index), value, exprs_.text(*store.active));
      return;
    }
    if (store.streaming && buffer.type == DType::kF32 && store.lanes > 1) {
      streams_ = true;
      snippets_.insert(fmt::format("stream{}", store.lanes));
      line("lehr_stream{}({}, {});", store.lanes, exprs_.address(store.buffer, store.index), value);
      return;
    }
    // "c[i] = fma(a, b, c[i])" reads better, and compiles the same, as "c[i] += a * b".
    const auto product = store.value.as_fma();
    const auto old = product != nullptr ? product->c.as_load() : nullptr;
    const std::string place = exprs_.element(store.buffer, store.index, store.lanes);
    if (old && !old->active && old->buffer == store.buffer && old->index == store.index &&
        old->lanes == store.lanes && buffer.scope == Scope::kRegister && !exprs_.is_dot(*product)) {
      line("{} += {};", place, exprs_.product(product->a, product->b));
    } else {
      line("{} = {};", place, value);
    }
  }

  void write(const If& branch) {
    line("if ({}) {{", exprs_.text(branch.condition));
    ++indent_;
    write_block(branch.then);
    --indent_;
    if (!branch.otherwise.empty()) {
      line("}} else {{");
      ++indent_;
      write_block(branch.otherwise);
      --indent_;
    }
    line("}}");
  }

  void write(const Let& let) {
    if (!is_read(let.var)) return;
    std::string value = exprs_.text(let.value);
    if (let.uniform) {
      CHECK(!dialect_.uniform.empty(), "lanes that agree on a target without warps");
      value = fmt::format(fmt::runtime(dialect_.uniform), value);
    }
    line("const {} {} = {};", dialect_.index_type, exprs_.name(let.var), value);
  }

  void write(const Alloc& alloc) {
    const Buffer& buffer = kernel_.buffer(alloc.buffer);
    const std::string scalar = scalar_name(buffer.type);
    const std::int64_t bytes = buffer.elements * size_of(buffer.type);
    switch (buffer.scope) {
      case Scope::kRegister: {
        if (buffer.lanes > 1) snippets_.insert(exprs_.snippet_for("vector", buffer.type, buffer.lanes));
        line("{}{} {}[{}];", dialect_.register_align, dialect_.type_name(buffer.type, buffer.lanes),
             buffer.name, buffer.elements / buffer.lanes);
        break;
      }
      case Scope::kScratch:
        line("{0}* {1} {2} = ({0}*)((char*)scratch + {3});", scalar, dialect_.restrict_word, buffer.name,
             scratch_bytes_);
        scratch_bytes_ = round_up(scratch_bytes_ + bytes, kScratchAlignment);
        break;
      case Scope::kShared:
        if (buffer.in_place_of) {
          line("{0}* {1} = reinterpret_cast<{0}*>({2});", scalar, buffer.name,
               kernel_.buffer(*buffer.in_place_of).name);
          break;
        }
        line("{0}* {1} = reinterpret_cast<{0}*>(lehr_shared + {2});", scalar, buffer.name, shared_bytes_);
        CHECK(shared_bytes_ % buffer.alignment == 0, "{} comes behind buffers of lesser alignment",
              buffer.name);
        shared_bytes_ = round_up(shared_bytes_ + bytes, buffer.alignment);
        break;
      case Scope::kGlobal:
        CHECK(false, "{} is a parameter: it has no Alloc", buffer.name);
    }
  }

  void write(const Barrier& barrier) {
    if (barrier.scope == BarrierScope::kCluster) snippets_.insert("cluster_barrier");
    if (barrier.scope == BarrierScope::kClusterRelaxed) snippets_.insert("cluster_barrier_relaxed");
    const std::string_view text = barrier_text(dialect_, barrier.scope);
    CHECK(!text.empty(), "barrier on a target that has none");
    line("{}", text);
  }

  void write(const Intrinsic& intrinsic) {
    snippets_.insert(std::string(intrinsic.name));
    std::string arguments;
    for (const Touch& touch : intrinsic.touches) {
      arguments += arguments.empty() ? "" : ", ";
      const Param* param = kernel_.param_of(touch.buffer);
      arguments += param != nullptr && param->map ? "&" + kernel_.buffer(touch.buffer).name
                                                  : exprs_.address(touch.buffer, touch.index);
    }
    const IntrinsicRule* rule = intrinsic_rule(intrinsic.name);
    const std::size_t immediates = rule != nullptr ? rule->immediates : 0;
    std::string constants;  // template arguments of the instruction's function
    for (std::size_t i = 0; i < intrinsic.args.size(); ++i) {
      std::string& list = i < immediates ? constants : arguments;
      list += list.empty() ? "" : ", ";
      list += exprs_.text(intrinsic.args[i]);
    }
    if (!constants.empty()) constants = "<" + constants + ">";
    line("{}{}({});", intrinsic_function(intrinsic.name), constants, arguments);
  }

  const Kernel& kernel_;
  const Dialect& dialect_;
  SnippetSet snippets_{"base"};
  ExprText exprs_;
  Uses uses_;
  std::string text_;
  int indent_ = 1;
  bool streams_ = false;  // whether something is streamed
  std::int64_t steps_ = 1, step_ = 0;
  std::int64_t scratch_bytes_ = 0;
  std::int64_t shared_bytes_ = 0;
};

std::vector<std::int64_t> bytes_of(const Source& source, Direction direction) {
  std::vector<std::int64_t> bytes;
  for (const SourceParam& param : source.params)
    if (param.direction == direction) bytes.push_back(param.elements * size_of(param.type));
  return bytes;
}

}  // namespace

std::vector<std::int64_t> workspace_bytes(const Source& source) {
  return bytes_of(source, Direction::kWorkspace);
}
std::vector<std::int64_t> prepacked_bytes(const Source& source) {
  return bytes_of(source, Direction::kPrepacked);
}
// Hashes the text from that function to the next one. A prelude that only one of two sources needs thus makes
// no difference.
std::string prepack_layout(const Source& source) {
  if (source.launch.prepack_work_items == 0) return "";
  const std::size_t begin = source.text.find(prepack_entry(source.entry) + "(");
  const std::size_t end = source.text.find("\nextern \"C\"", begin);
  CHECK(begin != std::string::npos, "{} has no function named {}", source.entry, prepack_entry(source.entry));
  std::string layout = source.text.substr(begin, end == std::string::npos ? end : end - begin);
  for (const std::int64_t bytes : prepacked_bytes(source)) layout += fmt::format(" {}", bytes);
  return to_hex(stable_hash(layout));
}

std::string prepack_entry(std::string_view entry) {
  return fmt::format("{}_prepack", entry);
}

Source emit(const Kernel& kernel) {
  Emitter emitter(kernel);
  const std::string body = emitter.body(kernel.body);
  Source source;
  source.target = kernel.target;
  source.entry = kernel.name;
  source.launch = launch_of(kernel);
  source.scratch_bytes = emitter.scratch_bytes();
  source.most_rows = kernel.rows ? kernel.rows->most : 0;
  const std::string prepack = emitter.body(kernel.prepack);
  CHECK(source.scratch_bytes == emitter.scratch_bytes(), "{} prepacks with scratch memory", kernel.name);
  CHECK(source.launch.shared_bytes == emitter.shared_bytes());
  for (const Param& param : kernel.params) {
    const Buffer& buffer = kernel.buffer(param.buffer);
    source.params.push_back({buffer.name, buffer.type, buffer.elements, param.direction, param.map});
  }
  source.text = prelude(kernel.target, emitter.snippets());
  const Dialect& dialect = dialect_of(kernel.target);
  const auto add = [&](std::string name, const Block& block, const std::string& text, Direction filled) {
    source.text += dialect.entry(kernel, source.launch, {std::move(name), block, text, filled});
  };
  if (!prepack.empty()) add(prepack_entry(kernel.name), kernel.prepack, prepack, Direction::kPrepacked);
  add(kernel.name, kernel.body, body, Direction::kOut);
  return source;
}

}  // namespace lehr
