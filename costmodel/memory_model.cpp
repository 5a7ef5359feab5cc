// Working sets and traffic from the analysis's footprints; the rule is in memory_model.h.
#include "costmodel/memory_model.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "costmodel/columns.h"

namespace lehr {
namespace {

/// Returns the factor by which the `i`-th loop from the outside multiplies the distinct elements: between 1
/// and its extent.
double growth_at(const ir::Access& access, std::size_t i, double extent) {
  if (i >= access.footprint.size()) return stride_at(access, i) != 0 ? std::max(1.0, extent) : 1;
  const double inner = i + 1 < access.footprint.size() ? access.footprint[i + 1] : access.lanes;
  return std::clamp(share_of(access.footprint[i], inner), 1.0, std::max(1.0, extent));
}

/// Counts the distinct bytes that a growing set of loops touches. If there are gaps between the elements,
/// whole lines count.
class TouchedBytes {
 public:
  /// Begins with one execution: `lanes` elements of `element` bytes. The count never exceeds `most` bytes.
  TouchedBytes(double lanes, double element, double line, double most)
      : lanes_(lanes),
        element_(element),
        line_(line),
        most_(std::max(most, element)),
        bytes_(lanes * element) {}

  void add(double growth, double step) {
    bytes_ *= growth;
    if (step == 0 || growth <= 1) return;
    if (gap_ != 0 && gap_ <= step) return;
    gap_ = step;
    waste_ = 1;
    if (gap_ <= lanes_) return;
    const double useful = lanes_ * element_;
    waste_ = std::max(1.0, std::min(gap_ * element_, std::ceil(useful / line_) * line_) / useful);
  }
  double bytes() const { return std::min(bytes_ * waste_, most_); }

 private:
  double lanes_, element_, line_, most_;
  double bytes_;
  double gap_ = 0;  // smallest step beyond the elements of one execution; 0: the elements are contiguous
  double waste_ = 1;
};

}  // namespace

CachedAccesses::CachedAccesses(const KernelView& view, std::pmr::memory_resource* memory)
    : entries(memory), levels(memory) {
  const std::vector<ir::LoopInfo>& nest = view.analysis.loops;
  entries.reserve(view.analysis.accesses.size());
  levels.reserve(view.analysis.accesses.size() * 8);
  Chain chain;
  int loop = -1;  // innermost loop of the current chain
  for (const ir::Access& access : view.analysis.accesses) {
    if (!is_cached(view.buffer_of(access).scope)) continue;
    if (access.loop != loop) chain = view.chain_of(access.loop);
    loop = access.loop;
    entries.push_back({&access, levels.size(), chain.size()});
    for (std::size_t i = 0; i < chain.size(); ++i) {
      const ir::LoopInfo& info = nest[static_cast<std::size_t>(chain[i])];
      const auto extent = static_cast<double>(info.extent);
      levels.push_back({chain[i], info.kind, extent, growth_at(access, i, extent),
                        std::abs(static_cast<double>(stride_at(access, i)))});
    }
  }
}

MemoryModel::MemoryModel(const KernelView& view, const CachedAccesses& cached, Sharing sharing,
                         std::pmr::memory_resource* memory)
    : view_(view),
      memory_(memory),
      sharing_(sharing),
      accesses_(memory),
      levels_(memory),
      sizes_(memory),
      full_(view.analysis.loops.size(), 0, memory),
      iteration_(view.analysis.loops.size(), 0, memory),
      top_of_buffer_(view.kernel.buffers.size(), 0, memory) {
  const ir::Analysis& a = view.analysis;
  // Only cached buffers have a column in the tables per loop.
  std::pmr::vector<std::size_t> column_of(view.kernel.buffers.size(), memory);
  std::size_t columns = 0;
  for (std::size_t b = 0; b < column_of.size(); ++b)
    if (is_cached(view.kernel.buffers[b].scope)) column_of[b] = columns++;
  std::pmr::vector<double> full_of(a.loops.size() * columns, memory);
  std::pmr::vector<double> iteration_of(a.loops.size() * columns, memory);
  accesses_.reserve(cached.entries.size());
  levels_.reserve(cached.levels.size());
  sizes_.reserve(cached.levels.size() + cached.entries.size());
  if (sharing == Sharing::kShared) {
    // Blocks start in the order x, y, z. A wave consists of as many of the first blocks as there is room for.
    double room = std::max(1, view.limits.cores) * view.residency.blocks_per_core;
    for (std::size_t i = 0; i < 3; ++i) {
      const double extent = std::max(1.0, static_cast<double>(a.launch.grid[i]));
      wave_[i] = std::clamp(std::floor(room), 1.0, extent);
      room /= wave_[i];
    }
    wave_[3] = std::max(1, view.limits.cores);
  }
  for (const CachedAccesses::Entry& entry : cached.entries) add_access(cached, entry);
  for (const Footprints& f : accesses_) {
    // Accesses to one buffer in one loop usually touch the same elements (a sum's load and store, main loop
    // and tail), so only the largest counts.
    for (std::size_t i = 0; i < f.levels; ++i) {
      const std::size_t cell =
          static_cast<std::size_t>(levels_[f.first_level + i]) * columns + column_of[f.buffer];
      full_of[cell] = std::max(full_of[cell], sizes_[f.first_size + i]);
      iteration_of[cell] = std::max(iteration_of[cell], sizes_[f.first_size + i + 1]);
    }
    top_of_buffer_[f.buffer] = std::max(top_of_buffer_[f.buffer], sizes_[f.first_size]);
  }
  for (std::size_t l = 0; l < a.loops.size(); ++l) {
    double full = 0, iteration = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      full += full_of[l * columns + c];
      iteration += iteration_of[l * columns + c];
    }
    full_[l] = full;
    iteration_[l] = iteration;
  }
  for (const double bytes : top_of_buffer_) top_ += bytes;
}

double MemoryModel::together(ir::LoopKind kind, double extent) const {
  const auto first = static_cast<std::size_t>(ir::LoopKind::kBlockX);
  const std::size_t i = is_block(kind) ? static_cast<std::size_t>(kind) - first : 3;
  return std::clamp(wave_[i], 1.0, std::max(1.0, extent));
}

void MemoryModel::add_access(const CachedAccesses& cached, const CachedAccesses::Entry& entry) {
  const ir::Access& access = *entry.access;
  const std::span<const CachedAccesses::Level> around(cached.levels.data() + entry.first, entry.depth);
  const double element = view_.element_bytes(access);
  const double line = view_.machine.line_bytes;
  const double most = static_cast<double>(view_.buffer_of(access).elements) * element;
  const TouchedBytes one(access.lanes, element, line, most);
  Footprints f{};
  f.buffer = static_cast<std::size_t>(access.buffer);
  f.writes = access.writes;
  f.multiplier = 1;
  f.branch = view_.executed(access).branch;
  f.share = view_.executed(access).share;
  f.first_level = levels_.size();
  f.first_size = sizes_.size();

  // First come the iterations that run at the same time: threads, and as much of the concurrent loops as one
  // wave covers.
  TouchedBytes touched = one;
  for (auto level = around.rbegin(); level != around.rend(); ++level) {
    if (is_thread(level->kind)) touched.add(level->growth, level->step);
    if (!is_concurrent(level->kind)) continue;
    const double part = together(level->kind, level->extent);
    touched.add(level->extent > 1 ? 1 + (level->growth - 1) * (part - 1) / (level->extent - 1) : 1,
                level->step);
    f.multiplier *= std::max(1.0, std::ceil(level->extent / part));
  }
  if (sharing_ == Sharing::kShared) {
    TouchedBytes everything = one;
    for (auto level = around.rbegin(); level != around.rend(); ++level)
      everything.add(level->growth, level->step);
    f.everything = everything.bytes();
  }
  // Then come the sequential loops around the access, innermost first.
  for (const CachedAccesses::Level& level : around)
    if (is_sequential(level.kind)) levels_.push_back(level.loop);
  f.levels = levels_.size() - f.first_level;
  sizes_.resize(f.first_size + f.levels + 1);
  std::size_t place = sizes_.size();
  sizes_[--place] = touched.bytes();
  for (auto level = around.rbegin(); level != around.rend(); ++level) {
    if (!is_sequential(level->kind)) continue;
    touched.add(level->growth, level->step);
    sizes_[--place] = touched.bytes();
  }
  accesses_.push_back(f);
}

double MemoryModel::bytes_of(const Footprints& f, double capacity) const {
  if (top_ * residents() <= capacity)
    return sharing_ == Sharing::kShared ? f.everything * f.share
                                        : sizes_[f.first_size] * f.multiplier * f.share;
  double executions = f.multiplier;
  std::size_t i = 0;
  while (i < f.levels) {
    const auto loop = static_cast<std::size_t>(levels_[f.first_level + i]);
    if (iteration_[loop] * residents() <= capacity) break;
    executions *= static_cast<double>(view_.analysis.loops[loop].extent);
    ++i;
  }
  return sizes_[f.first_size + i] * executions * f.share;
}

void MemoryModel::fit_main_chain(double capacity, Traffic& result) const {
  const ir::Analysis& a = view_.analysis;
  if (top_ * residents() <= capacity) {
    result.fitting_bytes = top_ * residents();
    result.fitting_flops = a.flops / std::max(1.0, view_.residency.blocks) * residents();
    return;
  }
  result.next_bytes = top_ * residents();
  for (const int l : view_.main_chain) {
    const ir::LoopInfo& loop = a.loops[static_cast<std::size_t>(l)];
    if (!is_sequential(loop.kind)) continue;
    const double iteration = iteration_[static_cast<std::size_t>(l)] * residents();
    if (iteration <= capacity) {
      result.fitting_bytes = iteration;
      result.fitting_flops = share_of(loop.flops, loop.iterations);
      return;
    }
    result.next_bytes = iteration;
  }
}

MemoryModel::Traffic MemoryModel::traffic(double capacity) const {
  struct Moved {
    std::size_t buffer;
    bool writes;
    int branch;
    double bytes;
  };
  std::pmr::vector<Moved> moved(memory_);
  moved.reserve(accesses_.size());
  for (const Footprints& f : accesses_) {
    const double bytes = bytes_of(f, capacity);
    // Accesses to one buffer in one branch usually touch the same elements, so only the largest counts.
    // Accesses in different branches (main loop and tail, prologue and loop) touch different elements.
    const auto same = std::ranges::find_if(moved, [&](const Moved& m) {
      return m.buffer == f.buffer && m.writes == f.writes && m.branch == f.branch;
    });
    if (same == moved.end()) {
      moved.push_back({f.buffer, f.writes, f.branch, bytes});
    } else {
      same->bytes = std::max(same->bytes, bytes);
    }
  }
  const std::size_t buffers = top_of_buffer_.size();
  const std::span of_buffer(
      static_cast<double*>(memory_->allocate(buffers * sizeof(double), alignof(double))), buffers);
  std::ranges::fill(of_buffer, 0.0);
  Traffic result;
  for (const Moved& m : moved) {
    of_buffer[m.buffer] += m.bytes;
    result.bytes += m.bytes;
  }
  result.of_buffer = of_buffer;
  result.bytes = std::max(result.bytes, view_.analysis.unique_global_bytes);  // each byte comes at least once
  fit_main_chain(capacity, result);
  return result;
}

}  // namespace lehr
