// Runs a compiler on threads of its own: the next sources are compiled while earlier ones are timed.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "measure/core/compiler.h"
#include "measure/system/process.h"

namespace lehr {

/// A queue of sources. Each source is compiled as soon as one of the threads is free. The threads live as
/// long as this object, because compile workers die with the thread that started them (PR_SET_PDEATHSIG). So
/// the compile workers of `compiler` end with this object.
class CompileAhead {
 public:
  /// Borrows `compiler`. Compiles up to `jobs` sources at once; `jobs` is at least 1.
  CompileAhead(Compiler& compiler, int jobs) : compiler_(compiler), jobs_(static_cast<std::size_t>(jobs)) {}
  /// Waits for running compilations. Removes results that were not taken.
  ~CompileAhead();
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  /// Begins a compilation and returns at once. The compilation is stopped at `end` (Compiler::compile()).
  void begin(Source source, Deadline end = Deadline::max());
  /// Waits for the oldest source that was begun and not taken, and returns its result. Throws what
  /// Compiler::compile() threw.
  Compiled take();
  /// Drops all sources that were begun and not taken. Waits for running compilations, and removes their
  /// results.
  void drop();
  /// Returns the seconds of wall time in which at least one source was being compiled.
  double busy_s() const;

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    Source source;
    Deadline end;
    std::optional<Compiled> result;
    std::exception_ptr broken;
    bool finished() const { return result || broken; }
  };
  void work();

  Compiler& compiler_;
  std::size_t jobs_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Job> queue_;  // the oldest first
  std::size_t begun_ = 0;  // number of sources at the front of the queue whose compilation has begun
  int running_ = 0;
  double busy_s_ = 0;
  Clock::time_point busy_since_;  // set while something runs
  bool quit_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace lehr
