// Columns about the uses of buffers, grouped by the buffer's role: touch counts, reuse, strides, lanes,
// footprints.
#include <algorithm>
#include <array>
#include <cstdlib>

#include "costmodel/feature_sections.h"

namespace lehr {
namespace {

constexpr std::array<std::string_view, kRoles> kRoleNames = {"in0",     "in1",     "out",
                                                             "staged0", "staged1", "private"};

struct RoleFacts {
  double touched = 0;    // elements, as executed
  double moved = 0;      // bytes, as executed
  double available = 0;  // bytes of the buffers
  double per_block = 0;  // distinct bytes of one work item or block
  std::int64_t inner_stride = 0;
  double inner_reuse = 0;
  double lanes = 0;
};

/// Returns the number of iterations of the innermost sequential loops that leave the address unchanged,
/// during which the value could stay in a register.
double innermost_reuse(const KernelView& view, const ir::Access& access, const Chain& chain) {
  double reuse = 1;
  for (std::size_t i = chain.size(); i-- > 0;) {
    const ir::LoopInfo& loop = view.analysis.loops[static_cast<std::size_t>(chain[i])];
    if (!is_sequential(loop.kind) || stride_at(access, i) != 0) break;
    reuse *= static_cast<double>(loop.extent);
  }
  return reuse;
}

}  // namespace

void add_buffer_columns(const FeatureContext& context, Columns& columns) {
  const KernelView& view = context.view;
  std::array<RoleFacts, kRoles> roles{};
  for (const ir::Access& access : view.analysis.accesses) {
    const auto role = static_cast<std::size_t>(view.role_of_buffer[static_cast<std::size_t>(access.buffer)]);
    if (role >= kRoles) continue;
    roles[role].touched += view.executions(access) * access.lanes;
    roles[role].moved += view.moved_bytes(access);
  }
  for (std::size_t b = 0; b < view.role_of_buffer.size(); ++b) {
    const auto role = static_cast<std::size_t>(view.role_of_buffer[b]);
    if (role >= kRoles) continue;
    const ir::Buffer& buffer = view.kernel.buffers[b];
    roles[role].available += static_cast<double>(buffer.elements) * size_of(buffer.type);
    roles[role].per_block += context.core.top_bytes(b);
  }
  for (std::size_t r = 0; r < kRoles; ++r) {
    RoleFacts& facts = roles[r];
    if (view.hottest[r] >= 0) {
      const ir::Access& access = view.analysis.accesses[static_cast<std::size_t>(view.hottest[r])];
      const Chain chain = view.chain_of(access.loop);
      facts.lanes = access.lanes;
      facts.inner_reuse = innermost_reuse(view, access, chain);
      if (!chain.empty()) facts.inner_stride = stride_at(access, chain.size() - 1);
    }
    const std::string_view name = kRoleNames[r];
    columns.add(name, "_touches", "log2(count)", "elements touched by all executions",
                log_scale(facts.touched));
    columns.add(name, "_reuse", "log2(ratio)", "bytes moved per byte of the buffers",
                log_ratio(facts.moved, facts.available));
    columns.add(name, "_lanes", "log2(count)", "elements per execution of the access that moves most",
                log_scale(facts.lanes));
    columns.add(name, "_inner_stride", "log2(element)", "its stride along its innermost loop",
                log_scale(static_cast<double>(facts.inner_stride)));
    columns.add(name, "_inner_reuse", "log2(count)", "innermost iterations for which its address stays",
                log_scale(facts.inner_reuse));
    if (r < 3) {
      columns.add(name, "_per_block", "log2(byte)", "distinct bytes that one task or block touches",
                  log_scale(facts.per_block));
    }
  }
}

}  // namespace lehr
