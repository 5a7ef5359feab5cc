// Kernel -> readable text: indented, deterministic, one line per statement.
#include "ir/print.h"

#include <fmt/format.h>
#include <cmath>

#include "base/error.h"
#include "base/overloaded.h"

namespace lehr::ir {
namespace {

// Precedence of operators, lowest first. Operands with a lower precedence than their context get parentheses.
enum Precedence { kAnyOperand = 0, kAndLevel, kCompareLevel, kXorLevel, kSumLevel, kProductLevel, kAtom };

struct Spelling {
  std::string_view text;
  Precedence level;  // kAtom: printed as a call
};

Spelling spelling_of(BinaryOp op) {
  switch (op) {
    case BinaryOp::kAdd:
      return {"+", kSumLevel};
    case BinaryOp::kSub:
      return {"-", kSumLevel};
    case BinaryOp::kMul:
      return {"*", kProductLevel};
    case BinaryOp::kDiv:
      return {"/", kProductLevel};
    case BinaryOp::kMod:
      return {"%", kProductLevel};
    case BinaryOp::kMin:
      return {"min", kAtom};
    case BinaryOp::kMax:
      return {"max", kAtom};
    case BinaryOp::kXor:
      return {"^", kXorLevel};
    case BinaryOp::kLt:
      return {"<", kCompareLevel};
    case BinaryOp::kLe:
      return {"<=", kCompareLevel};
    case BinaryOp::kEq:
      return {"==", kCompareLevel};
    case BinaryOp::kAnd:
      return {"&&", kAndLevel};
  }
  return {"?", kAtom};
}

std::string_view barrier_word(BarrierScope scope) {
  if (scope == BarrierScope::kBlock) return "block";
  if (scope == BarrierScope::kWarp) return "warp";
  return scope == BarrierScope::kCluster ? "cluster" : "cluster relaxed";
}

class Printer {
 public:
  Printer(const Kernel& kernel, std::string& out) : kernel_(kernel), names_(var_names(kernel)), out_(out) {}

  void kernel() {
    add("kernel {} target={} params(", kernel_.name, lehr::name_of(kernel_.target));
    std::string_view separator;
    for (const Param& param : kernel_.params) {
      add("{}{} {}: {}", separator, name_of(param.direction), name(param.buffer), type_text(param.buffer));
      separator = ", ";
      if (param.map) map(*param.map);
    }
    out_ += ')';
    if (kernel_.min_blocks_per_core != 0) add(" min_blocks_per_core={}", kernel_.min_blocks_per_core);
    if (kernel_.cluster != 1) add(" cluster={}", kernel_.cluster);
    if (kernel_.programmatic) out_ += " programmatic";
    if (kernel_.rows) add(" {}<={}", names_[static_cast<std::size_t>(kernel_.rows->var)], kernel_.rows->most);
    out_ += '\n';
    if (!kernel_.prepack.empty()) {
      out_ += "prepack\n";
      block(kernel_.prepack);
      out_ += "body\n";
    }
    block(kernel_.body);
  }

  void expr(const Expr& e, Precedence place = kAnyOperand) {
    e.visit(overloaded{
        [&](const Int& n) {
          // Adds parentheses because "x--3" and "x*-3" are hard to read.
          if (n.value < 0 && place > kAnyOperand)
            add("({})", n.value);
          else
            add("{}", n.value);
        },
        [&](const Float& n) { constant(n); },
        [&](const Var& n) { out_ += name(n.id); },
        [&](const Binary& n) { binary(n, place); },
        [&](const Unary& n) { call(name_of(n.op), {&n.value}); },
        [&](const Load& n) { access(n.buffer, n.index, n.lanes, n.active); },
        [&](const Splat& n) {
          out_ += "splat(";
          expr(n.value);
          add(" : {})", n.lanes);
        },
        [&](const Fma& n) { call("fma", {&n.a, &n.b, &n.c}); },
        [&](const Reduce& n) { call(fmt::format("reduce_{}", name_of(n.op)), {&n.value}); },
        [&](const Cast& n) { call(lehr::name_of(n.type), {&n.value}); },
        [&](const Select& n) { call("select", {&n.condition, &n.a, &n.b}); },
    });
  }

 private:
  template <typename... Args>
  void add(fmt::format_string<Args...> format, Args&&... args) {
    fmt::format_to(std::back_inserter(out_), format, std::forward<Args>(args)...);
  }

  // Also accepts ids that are out of range: messages about a malformed kernel use this printer.
  std::string name(VarId id) const {
    const auto i = static_cast<std::size_t>(id);
    return i < names_.size() ? names_[i] : fmt::format("var#{}", static_cast<int>(id));
  }
  std::string name(BufferId id) const {
    const auto i = static_cast<std::size_t>(id);
    return i < kernel_.buffers.size() ? kernel_.buffers[i].name
                                      : fmt::format("buffer#{}", static_cast<int>(id));
  }
  std::string type_text(BufferId id) const {
    if (static_cast<std::size_t>(id) >= kernel_.buffers.size()) return "?";
    const Buffer& buffer = kernel_.buffer(id);
    std::string text = fmt::format("{}[{}]", lehr::name_of(buffer.type), buffer.elements);
    if (buffer.lanes != 1) text += fmt::format(" in vectors of {}", buffer.lanes);
    return text;
  }

  void constant(const Float& n) {
    std::string text = fmt::format("{}", n.value);
    if (std::isfinite(n.value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    if (n.type != DType::kF32) text += fmt::format(":{}", lehr::name_of(n.type));
    out_ += text;
  }

  // Prints " as 4096(1) x 512(4096) in boxes of 64 x 128 swizzle 128": extents with their strides, innermost
  // first. In im2col mode it prints " as 64(1) x 56(64) x 56(3584) x 8(200704) in columns of 64 x 128 pixels
  // from (-1, -1) to (-1, -1) by (1, 1) swizzle 128", where the pairs are the corners of the bounding box and
  // the steps, along w and h.
  void map(const TensorMap& m) {
    out_ += " as ";
    for (std::size_t d = 0; d < static_cast<std::size_t>(m.rank); ++d)
      add("{}{}({})", d == 0 ? "" : " x ", m.dims[d], m.strides[d]);
    if (m.im2col) {
      const Im2col& i = *m.im2col;
      add(" in columns of {} x {} pixels from ({}, {}) to ({}, {}) by ({}, {})", m.box[0], i.pixels,
          i.lower[0], i.lower[1], i.upper[0], i.upper[1], i.step[0], i.step[1]);
    } else {
      out_ += " in boxes of ";
      for (std::size_t d = 0; d < static_cast<std::size_t>(m.rank); ++d)
        add("{}{}", d == 0 ? "" : " x ", m.box[d]);
    }
    add(" swizzle {}{}", m.swizzle, m.tf32 ? " as tf32" : "");
  }

  void call(std::string_view function, std::initializer_list<const Expr*> args) {
    out_ += function;
    out_ += '(';
    std::string_view separator;
    for (const Expr* arg : args) {
      out_ += separator;
      expr(*arg);
      separator = ", ";
    }
    out_ += ')';
  }

  void binary(const Binary& n, Precedence place) {
    const Spelling spelling = spelling_of(n.op);
    if (spelling.level == kAtom) return call(spelling.text, {&n.a, &n.b});
    const bool parentheses = spelling.level < place;
    if (parentheses) out_ += '(';
    expr(n.a, spelling.level);
    out_ += spelling.text;
    // The right operand needs a level more, so that a-(b-c) does not become a-b-c, or a/(b*c) become a/b*c.
    expr(n.b, static_cast<Precedence>(spelling.level + 1));
    if (parentheses) out_ += ')';
  }

  void access(BufferId buffer, const Expr& index, std::int64_t lanes, const std::optional<Expr>& active) {
    out_ += name(buffer);
    out_ += '[';
    expr(index);
    if (lanes != 1 || active) add(" : {}", lanes);
    if (active) {
      out_ += " active ";
      expr(*active);
    }
    out_ += ']';
  }

  void block(const Block& statements) {
    for (const Stmt& statement : statements) stmt(statement);
  }

  void nested(const Block& statements) {
    out_ += ":\n";
    indent_ += 2;
    block(statements);
    indent_ -= 2;
  }

  void stmt(const Stmt& statement) {
    out_.append(static_cast<std::size_t>(indent_), ' ');
    std::visit(overloaded{
                   [&](const For& n) {
                     add("{} {} in 0..", n.kind == LoopKind::kSerial ? "for" : name_of(n.kind), name(n.var));
                     expr(n.extent);
                     if (as_constant(n.extent) != n.bound) add(" (at most {})", n.bound);
                     nested(n.body);
                   },
                   [&](const Store& n) {
                     access(n.buffer, n.index, n.lanes, n.active);
                     out_ += " = ";
                     expr(n.value);
                     out_ += n.streaming ? " streaming\n" : "\n";
                   },
                   [&](const If& n) {
                     out_ += "if ";
                     expr(n.condition);
                     if (n.threads != 0) add(" ({} threads)", n.threads);
                     nested(n.then);
                     if (n.otherwise.empty()) return;
                     out_.append(static_cast<std::size_t>(indent_), ' ');
                     out_ += "else";
                     nested(n.otherwise);
                   },
                   [&](const Let& n) {
                     add("let {}{} = ", n.uniform ? "uniform " : "", name(n.var));
                     expr(n.value);
                     out_ += '\n';
                   },
                   [&](const Alloc& n) {
                     const auto i = static_cast<std::size_t>(n.buffer);
                     const Buffer buffer = i < kernel_.buffers.size()
                                               ? kernel_.buffers[i]
                                               : Buffer{.name = "", .scope = Scope::kRegister};
                     add("{} {}: {}", name_of(buffer.scope), name(n.buffer), type_text(n.buffer));
                     if (buffer.alignment != 16) add(" align {}", buffer.alignment);
                     if (buffer.in_place_of) add(" in place of {}", name(*buffer.in_place_of));
                     out_ += '\n';
                   },
                   [&](const Barrier& n) { add("barrier {}\n", barrier_word(n.scope)); },
                   [&](const Intrinsic& n) { intrinsic(n); },
               },
               statement.node);
  }

  void intrinsic(const Intrinsic& n) {
    out_ += n.name;
    out_ += '(';
    std::string_view separator;
    for (const Touch& touch : n.touches) {
      out_ += separator;
      out_ += touch.writes ? "write " : "read ";
      access(touch.buffer, touch.index, touch.elements, std::nullopt);
      if (touch.rows != 1) add(" in {} rows {} apart", touch.rows, touch.row_stride);
      if (touch.partial) out_ += " where it exists";
      if (touch.copies != 1) add(" in {} blocks", touch.copies);
      separator = ", ";
    }
    for (const Expr& arg : n.args) {
      out_ += separator;
      expr(arg);
      separator = ", ";
    }
    out_ += ')';
    if (n.flops != 0) add(" flops={}", n.flops);
    out_ += '\n';
  }

  const Kernel& kernel_;
  const std::vector<std::string> names_;
  std::string& out_;
  int indent_ = 0;
};

}  // namespace

std::string to_text(const Kernel& kernel) {
  std::string out;
  Printer(kernel, out).kernel();
  return out;
}

std::string to_text(const Expr& expr, const Kernel& kernel) {
  std::string out;
  Printer(kernel, out).expr(expr);
  return out;
}

std::string_view name_of(LoopKind kind) {
  switch (kind) {
    case LoopKind::kSerial:
      return "serial";
    case LoopKind::kUnrolled:
      return "unrolled";
    case LoopKind::kRolled:
      return "rolled";
    case LoopKind::kParallel:
      return "parallel";
    case LoopKind::kBlockX:
      return "block.x";
    case LoopKind::kBlockY:
      return "block.y";
    case LoopKind::kBlockZ:
      return "block.z";
    case LoopKind::kThreadX:
      return "thread.x";
    case LoopKind::kThreadY:
      return "thread.y";
    case LoopKind::kThreadZ:
      return "thread.z";
  }
  return "?";
}

std::string_view name_of(Scope scope) {
  switch (scope) {
    case Scope::kGlobal:
      return "global";
    case Scope::kScratch:
      return "scratch";
    case Scope::kShared:
      return "shared";
    case Scope::kRegister:
      return "register";
  }
  return "?";
}

}  // namespace lehr::ir
