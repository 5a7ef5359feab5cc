// `lehr compile`: compiles configs for a device that need not be present, and prints the resources that their
// kernels use.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/kernel_flags.h"
#include "templates/catalog.h"

namespace CLI {
class App;
}

namespace lehr {

class CompileCommand {
 public:
  CompileCommand(CLI::App& root, const Environment& environment);
  /// Returns the exit code: 0, or 1 if the compiler refused a kernel or its log ruled it out.
  int run();

 private:
  std::vector<Point> points(const KernelSpace& kernels) const;

  const Environment& environment_;
  KernelFlags kernel_;
  std::string samples_, seed_ = "0", family_;
  OptionFlags options_;
  bool json_ = false;
};

}  // namespace lehr
