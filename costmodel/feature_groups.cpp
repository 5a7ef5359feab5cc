// The sections' extents, counted where the sections are written.
#include "costmodel/feature_groups.h"

#include <vector>

#include "costmodel/feature_sections.h"

namespace lehr {
namespace {

std::vector<FeatureGroup> counted() {
  struct Section {
    std::string_view name, meaning;
    void (*add)(const FeatureContext&, Columns&);
  };
  constexpr Section kSections[] = {
      {"kernel", "flops, bytes, intensity and code size of the whole kernel", add_kernel_columns},
      {"loops", "extents and kinds of the loops", add_loop_columns},
      {"buffers", "what is done to operands, output, staged and register tiles", add_buffer_columns},
      {"relations", "curves of reuse and traffic over the loops", add_relation_columns},
      {"memory", "working sets and traffic per cache level", add_memory_columns},
      {"hardware", "occupancy, waves, registers, coalescing, bank conflicts", add_hardware_columns},
  };
  // Columns do not depend on the kernel: an empty one has all of them.
  const ir::Analysis analysis;
  const ir::Kernel kernel;
  const Limits limits;
  const FeatureContext context(analysis, kernel, limits);
  std::vector<Columns::Description> all;
  Columns columns(all);
  std::vector<FeatureGroup> groups;
  for (const Section& section : kSections) {
    const std::size_t first = all.size();
    section.add(context, columns);
    groups.push_back({section.name, section.meaning, first, all.size() - first});
  }
  return groups;
}

}  // namespace

std::span<const FeatureGroup> feature_groups() {
  static const std::vector<FeatureGroup> groups = counted();
  return groups;
}

}  // namespace lehr
