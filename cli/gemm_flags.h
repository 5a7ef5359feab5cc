// The problem flags of `gemm`, shared by the commands that take one, after cutlass_profiler.
#pragma once

#include <string>
#include <vector>

#include "workload/workload.h"

namespace CLI {
class App;
}

namespace lehr {

class GemmFlags {
 public:
  /// Adds --m --n --k --batch --a --b --c --accum --math --layout --epilogue to `app`.
  void add_to(CLI::App& app);
  /// The cross product of all lists, m slowest. Throws Error(kUser), one sentence.
  std::vector<Workload> workloads() const;

 private:
  std::string m_, n_, k_, batch_ = "1", a_ = "f32", b_, c_, accum_, layout_, math_ = "strict",
                          epilogue_ = "none";
};

}  // namespace lehr
