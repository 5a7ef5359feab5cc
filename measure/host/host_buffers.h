// The memory that a CPU candidate or a CPU library works on, and the check that only outputs were changed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/core/problem.h"
#include "measure/core/runner.h"

namespace lehr {

/// Page-aligned bytes between two canary zones of at least a page each. All memory is poisoned at first
/// (element.h).
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
  /// Returns which side's canary was changed, with the distance in bytes of the nearest changed byte; "":
  /// neither.
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
  /// constant, and the memory of the outputs, which outputs of other layers used before. The first input
  /// comes last.
  std::vector<FreshBytes> fresh() const;
  /// Prepares a checked call: poisons outputs, and restores arguments that are changed in place.
  void reset_outputs();
  /// Takes over the values and expected outputs of a problem with the same arguments. The memory stays the
  /// same.
  void replace(Problem problem);
  /// Returns which argument was written outside of its memory, or which input has changed; "": none was.
  std::string damage() const;
  /// Checks memory after a checked call: the outputs are written and right, and nothing else was changed.
  /// After a candidate wrote outside of its outputs, the process cannot be trusted: Fault::worker_lost. If a
  /// kernel was called with fewer than all `rows` (0: all rows), the remaining rows must be unchanged.
  std::variant<Checked, Fault> verdict(std::int64_t rows = 0) const;
  /// Checks the outputs after several calls. Arguments that are changed in place are ignored.
  std::variant<Checked, Fault> verdict_left() const;
  std::vector<RunOutput> output() const;

 private:
  Problem problem_;
  std::vector<GuardedBytes> buffers_;
  std::vector<void*> pointers_;
  std::vector<std::uint64_t> sums_;  ///< input_checksum() of each input

  void fill(std::size_t argument);
  /// Checks one output.
  std::variant<Checked, Fault> verdict_of(std::size_t output, std::int64_t rows) const;
};

}  // namespace lehr
