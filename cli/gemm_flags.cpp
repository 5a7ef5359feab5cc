// From flags to workloads.
#include "cli/gemm_flags.h"

#include <CLI/CLI.hpp>

#include "base/error.h"
#include "cli/args.h"
#include "cli/help.h"

namespace lehr {
namespace {

const std::vector<std::string> kLayouts = {"nn", "nt", "tn", "tt"};

Operand operand_of(const char* flag, const std::string& text) {
  try {
    return parse_operand(text);
  } catch (const Error& error) {
    throw_user("{} {}: {}", flag, text, error.what());
  }
}

/// 't' in `layout` stores the operand column-major; an explicit layout must agree.
void apply_layout(const char* flag, const std::string& text, char letter, const std::string& layout,
                  Operand& operand) {
  const Layout wanted = letter == 't' ? Layout::kColumn : Layout::kRow;
  if (text.find(':') != std::string::npos && operand.layout != wanted)
    throw_user("{} {} contradicts --layout {}: give only one of the two", flag, text, layout);
  operand.layout = wanted;
}

}  // namespace

void GemmFlags::add_to(CLI::App& app) {
  const auto add = [&](const char* name, std::string& value, const char* help) {
    value_flag(app, "Problem: C (m x n) = A (m x k) B (k x n)", name, value, help);
  };
  add("--m", m_, "rows of C: 64 | 64,128 | 1024:4096:1024 (start:end:step)");
  add("--n", n_,
      "columns of C; 4096+1024+1024: of layers that share A, run as one with their B side by side");
  add("--k", k_, "inner size");
  add("--batch", batch_, "number of independent products (1)");
  add("--a", a_, "type[:layout] of A: f32:row, bf16:column, ... (f32:row)");
  add("--b", b_, "type[:layout] of B (the type of A, row)");
  add("--c", c_, "type[:layout] of C (the type of A, s32 for s8, f32 for e4m3 and e5m2; row)");
  add("--accum", accum_, "type of the sums (f32; f64 for f64, s32 for s8)");
  add("--math", math_,
      "strict | tf32 | 3xtf32: what f32 operands may be rounded to on the way; two_level: 8-bit floats with "
      "at most 128 products summed in the tensor core, and the rest in f32 (strict)");
  add("--layout", layout_, "nn | nt | tn | tt: A, B stored row-major (n) or column-major (t)");
  add("--epilogue", epilogue_,
      "what is done to C before it is stored, in order: bias+relu, bias+gelu, scale_shift+residual+relu, "
      "...; "
      "swiglu, geglu: one column of two neighbours, the gate and the value (none)");
}

std::vector<Workload> GemmFlags::workloads() const {
  Gemm base;
  base.a = operand_of("--a", a_);
  base.b = b_.empty() ? Operand{.type = base.a.type, .layout = Layout::kRow} : operand_of("--b", b_);
  base.c =
      c_.empty() ? Operand{.type = output_for(base.a.type), .layout = Layout::kRow} : operand_of("--c", c_);
  base.accum = accum_.empty() ? sums_for(base.a.type) : operand_of("--accum", accum_).type;
  base.math = parse_math(math_);
  if (!layout_.empty()) {
    parse_choice("--layout", layout_, kLayouts);
    apply_layout("--a", a_, layout_[0], layout_, base.a);
    apply_layout("--b", b_, layout_[1], layout_, base.b);
  }
  const Epilogue epilogue = parse_epilogue(epilogue_);
  for (const auto& [flag, text] : {std::pair{"--m", &m_}, {"--n", &n_}, {"--k", &k_}})
    if (text->empty()) throw_user("{} is missing: a GEMM needs --m, --n and --k", flag);
  const std::vector<std::int64_t> ms = parse_sizes("--m", m_), ns = parse_sizes("--n", n_),
                                  ks = parse_sizes("--k", k_), batches = parse_sizes("--batch", batch_);
  const double count = static_cast<double>(ms.size()) * static_cast<double>(ns.size()) *
                       static_cast<double>(ks.size()) * static_cast<double>(batches.size());
  if (count > kMostProblems)
    throw_user("--m, --n, --k and --batch make {:.0f} problems together, more than {:.0f}", count,
               kMostProblems);
  std::vector<Workload> result;
  for (const std::int64_t m : ms)
    for (const std::int64_t n : ns)
      for (const std::int64_t k : ks)
        for (const std::int64_t batch : batches) {
          Workload workload;
          base.m = m;
          base.n = n;
          base.k = k;
          base.batch = batch;
          workload.problem = base;
          workload.epilogue = epilogue;
          try {
            validate(workload);
          } catch (const Error& error) {
            throw_user("--m {} --n {} --k {} --batch {}: {}", m, n, k, batch, error.what());
          }
          result.push_back(workload);
        }
  return result;
}

}  // namespace lehr
