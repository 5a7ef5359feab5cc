// A compiler on a thread of its own: the next sources are compiled while the last ones are timed.
#pragma once

#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "measure/core/compiler.h"

namespace lehr {

/// Compiles one batch at a time. The thread lives as long as this object, because compile workers die with
/// the thread that started them (PR_SET_PDEATHSIG): those of `compiler` end with this object.
class CompileAhead {
 public:
  struct Batch {
    std::vector<Compiled> results;  ///< in the order of the sources
    double seconds = 0;             ///< wall time that they took
  };

  /// Borrows `compiler`; nobody else may use it as long as there is a batch that was not taken.
  explicit CompileAhead(Compiler& compiler) : compiler_(compiler) {}
  /// Waits for the running batch. What nobody took is removed.
  ~CompileAhead();
  CompileAhead(const CompileAhead&) = delete;
  CompileAhead& operator=(const CompileAhead&) = delete;

  /// Starts to compile and returns at once, but for a batch that was begun and never taken: it is waited for
  /// and removed first.
  void begin(std::vector<Source> sources);
  /// Waits for the batch of the last begin(). Throws what Compiler::compile() threw.
  Batch take();
  /// Between begin() and take().
  bool begun() const { return begun_; }

 private:
  void work();
  void drop();

  Compiler& compiler_;
  bool begun_ = false;  // the caller's

  std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<std::vector<Source>> wanted_;
  std::optional<Batch> done_;
  std::exception_ptr broken_;
  bool quit_ = false;
  std::thread thread_;
};

}  // namespace lehr
