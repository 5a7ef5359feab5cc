// Columns about the memory hierarchy: bytes that come from beyond each cache level, and the piece of the loop
// nest that fits into the cache.
#include <algorithm>

#include "costmodel/feature_sections.h"

namespace lehr {

void add_memory_columns(const FeatureContext& context, Columns& columns) {
  const KernelView& view = context.view;
  const double flops = view.flops();
  for (std::size_t i = 0; i < kCacheLevelNames.size(); ++i) {
    const std::string_view name = kCacheLevelNames[i];
    const MemoryModel::Traffic& traffic = context.traffic[i];
    columns.add(name, "_traffic", "log2(byte)", "bytes from beyond this cache level, whole kernel",
                log_scale(traffic.bytes));
    columns.add(name, "_intensity", "log2(flop/byte)", "flops per byte from beyond this cache level",
                log_scale(share_of(flops, traffic.bytes)));
    columns.add(name, "_fit", "log2(ratio)",
                "capacity / working set of the largest piece of the nest that fits",
                log_ratio(context.capacity[i], traffic.fitting_bytes));
    columns.add(name, "_overflow", "log2(ratio)",
                "working set of the next larger piece / capacity; 0: all fits",
                log_ratio(traffic.next_bytes, context.capacity[i]));
    columns.add(name, "_fitting_flops", "log2(flop)", "flops of the largest piece that fits",
                log_scale(traffic.fitting_flops));
  }
  columns.add("block_working_set", "log2(byte)", "global and scratch bytes that one task or block touches",
              log_scale(context.core.top_working_set()));
  columns.add("wave_working_set", "log2(byte)",
              "global and scratch bytes that one task per core, or one wave of blocks, touches",
              log_scale(context.chip().top_working_set()));
  constexpr std::array<std::string_view, 3> kParams = {"in0", "in1", "out"};
  for (std::size_t r = 0; r < kParams.size(); ++r) {
    double beyond_l1 = 0, beyond_last = 0, size = 0;
    for (std::size_t b = 0; b < view.role_of_buffer.size(); ++b) {
      if (view.role_of_buffer[b] != static_cast<BufferRole>(r)) continue;
      beyond_l1 += context.traffic[0].of_buffer[b];
      beyond_last += context.traffic[2].of_buffer[b];
      size += static_cast<double>(view.kernel.buffers[b].elements) * size_of(view.kernel.buffers[b].type);
    }
    columns.add(kParams[r], "_l1_reloads", "log2(ratio)",
                "bytes of it from beyond the first level / its size", log_ratio(beyond_l1, size));
    columns.add(kParams[r], "_llc_reloads", "log2(ratio)",
                "bytes of it from beyond the last level / its size", log_ratio(beyond_last, size));
  }
}

}  // namespace lehr
