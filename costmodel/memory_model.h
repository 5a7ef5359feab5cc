// Working sets and traffic of a kernel for caches of any size. Internal to costmodel/.
//
// Order in time. On the CPU it is the order of the loops. On CUDA the threads of a block run together, so
// thread loops count as innermost wherever they stand. A *private* cache (of one core) sees one work item or
// block at a time. A *shared* cache sees a wave of them together, so the part of the concurrent loops that
// runs at the same time counts as innermost, too.
//
// Rule. Let P be the outermost sequential loop of which one iteration's working set fits. Whatever an access
// touches in one execution of P is then fetched once: between two iterations of P no more than one
// iteration's working set is touched, so under LRU no data that is used again has been evicted. Outside P
// nothing survives. Hence
//   traffic = distinct bytes in one execution of P x executions of P.
// This is the reuse-distance argument of tiled-loop cache models (e.g. Wolf & Lam, "A data locality
// optimizing algorithm", PLDI 1991) with footprints estimated from strides.
#pragma once

#include <array>
#include <cstdint>
#include <memory_resource>
#include <span>
#include <vector>

#include "costmodel/kernel_view.h"

namespace lehr {

enum class Sharing { kPrivate, kShared };

/// The accesses to cached memory, and the loops around them. The memory models of private and shared caches
/// both read this.
struct CachedAccesses {
  /// The vectors are allocated from `memory`.
  CachedAccesses(const KernelView& view, std::pmr::memory_resource* memory);

  struct Entry {
    const ir::Access* access;
    std::size_t first;  ///< position of the access's first level in `levels`
    std::size_t depth;  ///< number of loops around the access
  };
  struct Level {
    int loop;
    ir::LoopKind kind;
    double extent;
    double growth;  ///< factor by which the loop multiplies the distinct elements, in [1, extent]
    double step;    ///< distance of two iterations in elements, as an absolute value
  };
  std::pmr::vector<Entry> entries;
  std::pmr::vector<Level> levels;  ///< loops of each access, outermost first
};

/// Footprints of all accesses to cached memory (global, and scratch on the CPU), and working sets of all
/// loops.
class MemoryModel {
 public:
  /// Its vectors, and the results of traffic(), are allocated from `memory`.
  MemoryModel(const KernelView& view, const CachedAccesses& cached, Sharing sharing,
              std::pmr::memory_resource* memory);

  struct Traffic {
    /// Bytes that cross the boundary of the cache in both directions, for the whole kernel.
    double bytes = 0;
    /// The same bytes for each buffer; allocated from the model's memory.
    std::span<const double> of_buffer;
    /// Working set of the largest piece of the main chain that fits into the cache; 0: no piece fits.
    double fitting_bytes = 0;
    /// Working set of the next larger piece; 0: the whole kernel fits.
    double next_bytes = 0;
    /// Flops of the largest piece that fits.
    double fitting_flops = 0;
  };
  /// Returns the traffic of a cache of `capacity` bytes, > 0.
  Traffic traffic(double capacity) const;

  /// Returns the bytes of all buffers that one full execution of the loop touches (all its iterations).
  double working_set(int loop) const { return full_[static_cast<std::size_t>(loop)]; }
  /// Returns the bytes that one work item or block touches (private), or one wave of them (shared).
  double top_working_set() const { return top_; }
  /// Returns the distinct bytes of `buffer` that one work item or block touches (private), or one wave of
  /// them (shared).
  double top_bytes(std::size_t buffer) const { return top_of_buffer_[buffer]; }

 private:
  struct Footprints {
    std::size_t buffer;
    bool writes;
    int branch;  ///< ExecutedAccess::branch
    /// For private caches: number of work items or blocks; for shared ones: number of waves.
    double multiplier;
    double share;             ///< fraction of the counted executions that take place
    double everything;        ///< for shared caches: distinct bytes over all concurrent iterations
    std::size_t first_level;  ///< position of its first level in levels_
    /// Number of sequential loops around the access. In sizes_ it has one entry more than that, from
    /// first_size on.
    std::size_t levels;
    std::size_t first_size;
  };

  void add_access(const CachedAccesses& cached, const CachedAccesses::Entry& entry);
  /// Returns the number of iterations of a concurrent loop that run at the same time.
  double together(ir::LoopKind kind, double extent) const;
  /// Returns the number of blocks that share the cache of a core. For a shared cache 1, because a wave
  /// already counts as one piece.
  double residents() const { return sharing_ == Sharing::kPrivate ? view_.residency.blocks_per_core : 1; }
  /// Returns the bytes that one access fetches into a cache of `capacity` bytes.
  double bytes_of(const Footprints& footprints, double capacity) const;
  /// Sets which pieces of the main chain fit into the cache. Tries the whole chain first, and then inner
  /// pieces.
  void fit_main_chain(double capacity, Traffic& result) const;

  const KernelView& view_;
  std::pmr::memory_resource* memory_;
  Sharing sharing_;
  std::array<double, 4> wave_ = {1, 1, 1, 1};  ///< extents of one wave: blocks along x, y and z; work items
  std::pmr::vector<Footprints> accesses_;
  std::pmr::vector<int> levels_;  ///< sequential loops of each access, outermost first
  std::pmr::vector<double>
      sizes_;                      ///< distinct bytes from each level inward, then of one innermost iteration
  std::pmr::vector<double> full_;  ///< for each loop: working set of one full execution
  std::pmr::vector<double> iteration_;  ///< for each loop: working set of one iteration
  std::pmr::vector<double> top_of_buffer_;
  double top_ = 0;
};

}  // namespace lehr
