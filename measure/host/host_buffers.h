// The memory that a CPU candidate or a CPU library runs on, and the check that it changed only its outputs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/core/problem.h"
#include "measure/core/runner.h"

namespace lehr {

/// Page-aligned bytes between two canary zones of at least a page. All of it is poisoned first (element.h).
class GuardedBytes {
 public:
  /// Throws std::bad_alloc if there is no memory.
  explicit GuardedBytes(std::size_t bytes);
  ~GuardedBytes();
  GuardedBytes(GuardedBytes&& other) noexcept;
  GuardedBytes& operator=(GuardedBytes&&) = delete;

  unsigned char* data() const { return base_ + kZone; }
  std::size_t size() const { return bytes_; }
  void poison();
  /// Returns "" or which side's canary was broken, with the distance in bytes of the first broken one.
  std::string damage() const;

 private:
  static constexpr std::size_t kZone = 4096;
  unsigned char* base_ = nullptr;
  std::size_t bytes_ = 0;
  std::size_t mapped_ = 0;
};

/// Bytes that are in a processor's caches when a layer of a network begins.
struct FreshBytes {
  const unsigned char* data = nullptr;
  std::size_t size = 0;
};

/// The arguments of one problem.
class HostBuffers {
 public:
  /// Throws std::bad_alloc, or Error(kUser) for a malformed problem (outputs_of()).
  explicit HostBuffers(Problem problem);

  const Problem& problem() const { return problem_; }
  /// Returns one pointer per argument, in their order.
  void* const* pointers() const { return pointers_.data(); }
  /// Returns the memory that the previous layers of a network have just written: inputs that are not
  /// constant, and the memory of the outputs, which another layer's outputs have just used. The first input
  /// comes last.
  std::vector<FreshBytes> fresh() const;
  /// Prepares a checked run: poisons outputs, and restores arguments that are changed in place.
  void reset_outputs();
  /// Takes values and expected outputs of a problem with the same arguments, in the same memory.
  void replace(Problem problem);
  /// Returns "", or which argument was written outside of its memory, or which input has changed.
  std::string damage() const;
  /// Judges a checked run: right values, all written, nothing else changed. A candidate that wrote outside of
  /// its outputs leaves a process that cannot be trusted: Fault::worker_lost. If a kernel got fewer `rows`
  /// than there are (0: all), the rest must be unchanged.
  std::variant<Checked, Fault> verdict(std::int64_t rows = 0) const;
  /// Judges the outputs after several calls; arguments that they change in place are ignored.
  std::variant<Checked, Fault> verdict_left() const;
  std::vector<RunOutput> output() const;

 private:
  Problem problem_;
  std::vector<GuardedBytes> buffers_;
  std::vector<void*> pointers_;
  std::vector<std::uint64_t> sums_;  ///< of the inputs

  void fill(std::size_t argument);
  /// Judges one output.
  std::variant<Checked, Fault> verdict_of(std::size_t output, std::int64_t rows) const;
};

}  // namespace lehr
