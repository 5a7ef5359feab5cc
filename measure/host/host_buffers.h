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
  /// Returns the memory of all arguments with Argument::fresh. In a network such memory is in the caches when
  /// the layer begins, because earlier layers have just written it. Besides inputs that are not constant it
  /// may be the memory of outputs, which a network reuses. The order is the reverse of the order of the
  /// arguments, so the first input comes last.
  std::vector<FreshBytes> fresh() const;
  /// Prepares a checked call: poisons outputs, and restores arguments that are changed in place.
  void reset_outputs();
  /// Takes over the values and expected outputs of a problem with the same arguments. The memory stays the
  /// same.
  void replace(Problem problem);
  /// Returns a clause that names an argument outside of whose memory a byte was written, or an input that was
  /// changed. Returns "" if there is no such argument.
  std::string damage() const;
  /// Checks the memory after a checked call. All outputs must be written and right, and no other memory may
  /// have changed. If a candidate wrote outside of its outputs, Fault::worker_lost is set, because the
  /// process cannot be trusted any more. `rows` is the number of rows that the kernel was called with; 0: all
  /// rows of the problem. The outputs' remaining rows must be unchanged.
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
