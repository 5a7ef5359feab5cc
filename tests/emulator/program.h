// Compiles emitted CUDA text to code that runs on the CPU. The host compiler compiles all kernels in one go,
// and they are loaded.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codegen/source.h"
#include "machine.h"

namespace lehr::emulator {

/// The result of one launch.
struct Result {
  std::optional<std::string> fault;  ///< the first fault of a thread
  /// Values of the Direction::kOut parameters, in order. Elements that were not written are NaN (in integers
  /// -1).
  std::vector<std::vector<float>> outputs;
  std::vector<std::vector<unsigned char>> output_bytes;  ///< the same values in the parameters' types
  std::vector<Traffic> traffic;                          ///< traffic of each parameter
  Traffic shared;
  std::int64_t barriers = 0;  ///< barriers executed by all blocks together
  /// Operations of mma; with Count::kFlops also those of all arithmetic in `float`.
  double flops = 0;
};

/// kFlops: the text's `float` becomes a type that counts operations (device.h), which is several times
/// slower.
enum class Count { kBytes, kFlops };

class Program {
 public:
  /// Compiles all sources, on two threads. Throws Error(kEnvironment) with the compiler's output if a source
  /// does not compile.
  explicit Program(std::span<const Source> sources, Count count = Count::kBytes);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Runs source `index`. `inputs` has one vector per Direction::kIn parameter, in order, each of the
  /// parameter's size. Values are rounded to the parameter's type. A kernel with a workspace is launched
  /// twice with the same workspace, in two schedules, and both results must have the same bits. The counts
  /// are those of the second launch.
  Result run(std::size_t index, const std::vector<std::vector<float>>& inputs,
             const Schedule& schedule = {}) const;
  /// Does the same with the bytes of the inputs.
  Result run_bytes(std::size_t index, const std::vector<std::vector<unsigned char>>& inputs,
                   const Schedule& schedule = {}) const;

 private:
  struct Library;
  std::vector<Source> sources_;
  std::unique_ptr<Library> library_;
};

}  // namespace lehr::emulator
