// The memory that a CPU candidate or a CPU library runs on, and what it must leave as it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "measure/core/problem.h"
#include "measure/core/runner.h"

namespace lehr {

/// Page-aligned bytes between two canary zones of at least a page; everything is poisoned at first
/// (element.h).
class GuardedBytes {
 public:
  /// Throws std::bad_alloc when there is no memory.
  explicit GuardedBytes(std::size_t bytes);
  ~GuardedBytes();
  GuardedBytes(GuardedBytes&& other) noexcept;
  GuardedBytes& operator=(GuardedBytes&&) = delete;

  unsigned char* data() const { return base_ + kZone; }
  std::size_t size() const { return bytes_; }
  void poison();
  /// "" or which side's canary was broken, with the distance in bytes of the first broken one.
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

/// One problem's arguments.
class HostBuffers {
 public:
  /// Throws std::bad_alloc, or Error(kUser) for a malformed problem (outputs_of()).
  explicit HostBuffers(Problem problem);

  const Problem& problem() const { return problem_; }
  /// One pointer per argument, in their order.
  void* const* pointers() const { return pointers_.data(); }
  /// Returns what the layers before it have just written in a network: its inputs that do not stay the same,
  /// and the memory of its outputs, which another layer's have just had. The first input comes last.
  std::vector<FreshBytes> fresh() const;
  /// Before a checked run: poisons what is written, and puts back what is changed in place.
  void reset_outputs();
  /// Values and expected outputs of a problem with the same arguments, in the same places.
  void replace(Problem problem);
  /// "", or which argument was written outside of it, or which input is not what it was.
  std::string damage() const;
  /// After it: right values, all written, nothing else touched. A candidate that wrote where it must not
  /// leaves a process that cannot be trusted: Fault::worker_lost. Where a kernel was told fewer `rows` than
  /// there are (0: all), the rest is as it was.
  std::variant<Checked, Fault> verdict(std::int64_t rows = 0) const;
  /// What calls left that followed one another: nothing is asked of what they changed in place.
  std::variant<Checked, Fault> verdict_left() const;
  std::vector<RunOutput> output() const;

 private:
  Problem problem_;
  std::vector<GuardedBytes> buffers_;
  std::vector<void*> pointers_;
  std::vector<std::uint64_t> sums_;  ///< of the inputs

  void fill(std::size_t argument);
  /// Of one output.
  std::variant<Checked, Fault> verdict_of(std::size_t output, std::int64_t rows) const;
};

}  // namespace lehr
