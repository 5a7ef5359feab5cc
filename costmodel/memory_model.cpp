// Working sets and traffic from strides and extents; the rule is in memory_model.h.
#include "costmodel/memory_model.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "costmodel/columns.h"

namespace lehr {
namespace {

constexpr int kInner = 1 << 20;  ///< level of items that count as innermost
constexpr int kOuter = -1;       ///< level of concurrent items outside the piece that is looked at

/// Bytes of one unit of transfer: a cache line of common CPUs, a sector of NVIDIA's L1 and L2.
double line_bytes(bool cuda) {
  return cuda ? 32 : 64;
}

/// Distinct bytes touched by the items of level >= `from`, which are sorted by |stride|. Overlapping and
/// adjacent runs merge; runs with gaps between them are charged for whole lines. Never above `most`.
template <typename Items>
double distinct_bytes(const Items& items, int from, double lanes, double element, double line, double most) {
  double count = lanes;
  double span = lanes;
  double run = 0;  // length of a contiguous run once a gap was met
  double gap = 0;
  for (const auto& item : items) {
    if (item.level < from || item.stride == 0 || item.extent <= 1) continue;
    const double s = static_cast<double>(std::abs(item.stride));
    const double e = static_cast<double>(item.extent);
    const double grown = span + s * (e - 1);
    if (s <= span) {
      count = std::min(count * e, grown * (count / span));
    } else {
      if (run == 0) {
        run = span;
        gap = s;
      }
      count *= e;
    }
    span = grown;
  }
  double bytes = count * element;
  if (run > 0) {
    const double useful = run * element;
    const double fetched = std::min(gap * element, std::ceil(useful / line) * line);
    bytes *= std::max(1.0, fetched / useful);
  }
  return std::min(bytes, std::max(most, element));
}

}  // namespace

MemoryModel::MemoryModel(const KernelView& view, Sharing sharing) : view_(view), sharing_(sharing) {
  const ir::Analysis& a = view.analysis;
  const std::size_t buffers = view.kernel.buffers.size();
  std::vector<double> full_of(a.loops.size() * buffers), iteration_of(a.loops.size() * buffers);
  top_of_buffer_.assign(buffers, 0);
  full_.assign(a.loops.size(), 0);
  iteration_.assign(a.loops.size(), 0);
  accesses_.reserve(a.accesses.size());
  levels_.reserve(a.accesses.size() * 8);
  sizes_.reserve(a.accesses.size() * 9);
  items_.reserve(32);
  chain_.reserve(32);
  if (sharing == Sharing::kShared) {
    // Blocks start in the order x, y, z; a wave is the first so many of them.
    double room = std::max(1, view.limits.cores) * view.residency.blocks_per_core;
    for (std::size_t i = 0; i < 3; ++i) {
      const double extent = std::max(1.0, static_cast<double>(a.launch.grid[i]));
      wave_[i] = static_cast<std::int64_t>(std::clamp(std::floor(room), 1.0, extent));
      room /= static_cast<double>(wave_[i]);
    }
    wave_[3] = std::max(1, view.limits.cores);
  }
  for (const ir::Access& access : a.accesses) {
    const ir::Scope scope = view.buffer_of(access).scope;
    if (scope == ir::Scope::kGlobal || (scope == ir::Scope::kScratch && !view.cuda)) add_access(access);
  }
  for (const Footprints& f : accesses_) {
    // Accesses to one buffer in one loop usually touch the same elements (a sum's load and store, main part
    // and tail): the largest counts.
    for (std::size_t i = 0; i < f.levels; ++i) {
      const std::size_t cell = static_cast<std::size_t>(levels_[f.first_level + i]) * buffers + f.buffer;
      full_of[cell] = std::max(full_of[cell], sizes_[f.first_size + i]);
      iteration_of[cell] = std::max(iteration_of[cell], sizes_[f.first_size + i + 1]);
    }
    top_of_buffer_[f.buffer] = std::max(top_of_buffer_[f.buffer], sizes_[f.first_size]);
  }
  for (std::size_t l = 0; l < a.loops.size(); ++l) {
    for (std::size_t b = 0; b < buffers; ++b) {
      full_[l] += full_of[l * buffers + b];
      iteration_[l] += iteration_of[l * buffers + b];
    }
  }
  for (const double bytes : top_of_buffer_) top_ += bytes;
}

std::int64_t MemoryModel::together(ir::LoopKind kind, std::int64_t extent) const {
  const std::size_t i = kind == ir::LoopKind::kBlockX   ? 0
                        : kind == ir::LoopKind::kBlockY ? 1
                        : kind == ir::LoopKind::kBlockZ ? 2
                                                        : 3;
  return std::clamp<std::int64_t>(wave_[i], 1, std::max<std::int64_t>(1, extent));
}

void MemoryModel::add_access(const ir::Access& access) {
  const ir::Analysis& a = view_.analysis;
  const double element = view_.element_bytes(access);
  const double line = line_bytes(view_.cuda);
  const double most = static_cast<double>(view_.buffer_of(access).elements) * element;
  Footprints f{
      static_cast<std::size_t>(access.buffer), access.writes, 1, 0, levels_.size(), 0, sizes_.size()};

  view_.chain_of(access.loop, chain_);
  items_.clear();
  for (std::size_t i = chain_.size(); i-- > 0;) {
    const ir::LoopInfo& loop = a.loops[static_cast<std::size_t>(chain_[i])];
    const std::int64_t stride = stride_at(access, i);
    if (is_sequential(loop.kind)) {
      items_.push_back({stride, loop.extent, static_cast<int>(i)});
    } else if (is_thread(loop.kind)) {
      items_.push_back({stride, loop.extent, kInner});
    } else {
      const std::int64_t part = together(loop.kind, loop.extent);
      const std::int64_t rounds = (loop.extent + part - 1) / part;
      items_.push_back({stride, part, kInner});
      items_.push_back({stride * part, rounds, kOuter});
      f.multiplier *= static_cast<double>(std::max<std::int64_t>(1, rounds));
    }
  }
  std::sort(items_.begin(), items_.end(),
            [](const Item& x, const Item& y) { return std::abs(x.stride) < std::abs(y.stride); });

  const auto bytes_from = [&](int level) {
    return distinct_bytes(items_, level, access.lanes, element, line, most);
  };
  f.everything = bytes_from(kOuter);
  for (std::size_t i = 0; i < chain_.size(); ++i) {
    if (!is_sequential(a.loops[static_cast<std::size_t>(chain_[i])].kind)) continue;
    levels_.push_back(chain_[i]);
    sizes_.push_back(bytes_from(static_cast<int>(i)));
    ++f.levels;
  }
  sizes_.push_back(bytes_from(kInner));
  accesses_.push_back(f);
}

MemoryModel::Traffic MemoryModel::traffic(double capacity) const {
  const ir::Analysis& a = view_.analysis;
  // Blocks that share a core share its cache; a wave is counted as one piece already.
  const double residents = sharing_ == Sharing::kPrivate ? view_.residency.blocks_per_core : 1;
  const std::size_t buffers = top_of_buffer_.size();
  Traffic result;
  std::vector<double> moved(buffers * 2);
  const bool top_fits = top_ * residents <= capacity;
  for (const Footprints& f : accesses_) {
    double bytes;
    if (top_fits) {
      bytes = sharing_ == Sharing::kShared ? f.everything : sizes_[f.first_size] * f.multiplier;
    } else {
      double executions = f.multiplier;
      std::size_t i = 0;
      while (i < f.levels) {
        const auto loop = static_cast<std::size_t>(levels_[f.first_level + i]);
        if (iteration_[loop] * residents <= capacity) break;
        executions *= static_cast<double>(a.loops[loop].extent);
        ++i;
      }
      bytes = sizes_[f.first_size + i] * executions;
    }
    double& cell = moved[f.buffer * 2 + (f.writes ? 1 : 0)];
    cell = std::max(cell, bytes);
  }
  result.of_buffer.resize(buffers);
  for (std::size_t b = 0; b < buffers; ++b) {
    result.of_buffer[b] = moved[b * 2] + moved[b * 2 + 1];
    result.bytes += result.of_buffer[b];
  }

  // The main chain, from the whole piece inward.
  if (top_fits) {
    result.fitting_bytes = top_ * residents;
    result.fitting_flops = a.flops / std::max(1.0, view_.residency.blocks) * residents;
    return result;
  }
  result.next_bytes = top_ * residents;
  for (const int l : view_.main_chain) {
    const ir::LoopInfo& loop = a.loops[static_cast<std::size_t>(l)];
    if (!is_sequential(loop.kind)) continue;
    const double iteration = iteration_[static_cast<std::size_t>(l)] * residents;
    if (iteration <= capacity) {
      result.fitting_bytes = iteration;
      result.fitting_flops = share_of(loop.flops, loop.iterations);
      break;
    }
    result.next_bytes = iteration;
  }
  return result;
}

}  // namespace lehr
