// The problem flags of `conv2d`, shared by the commands that take one, after MIOpenDriver and DeepBench.
#pragma once

#include <string>
#include <vector>

#include "workload/workload.h"

namespace CLI {
class App;
}

namespace lehr {

class Conv2dFlags {
 public:
  /// Adds --n --h --w --c --k --r --s --stride --pad --dilation --groups --layout --dtype --y --accum
  /// --math --epilogue.
  void add_to(CLI::App& app);
  /// The cross product of all lists, n slowest. Throws Error(kUser), one sentence.
  std::vector<Workload> workloads() const;

 private:
  std::string n_ = "1", h_, w_, c_, k_, r_, s_, stride_ = "1", pad_ = "0", dilation_ = "1", groups_ = "1",
              layout_ = "nchw", dtype_ = "f32", y_, accum_, math_ = "strict", epilogue_ = "none";
};

}  // namespace lehr
