// Emitted CUDA text -> code that runs here. Kernels are compiled by the host compiler in one go and loaded.
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
  std::optional<std::string> fault;  ///< the first wrong thing that a thread did
  /// Values of the Direction::kOut parameters, in order; NaN (integers: -1) where nothing was written.
  std::vector<std::vector<float>> outputs;
  std::vector<std::vector<unsigned char>> output_bytes;  ///< the same in the parameters' types
  std::vector<Traffic> traffic;                          ///< per parameter
  Traffic shared;
  std::int64_t barriers = 0;  ///< executed by all blocks together
  double flops = 0;           ///< of mma; with Count::kFlops those of all arithmetic in `float` as well
};

/// kFlops: the text's `float` becomes a type that counts (device.h); several times slower.
enum class Count { kBytes, kFlops };

class Program {
 public:
  /// Compiles all sources, on two threads. Throws Error(kEnvironment) with the compiler's words when one does
  /// not compile.
  explicit Program(std::span<const Source> sources, Count count = Count::kBytes);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Runs source `index`. `inputs` has one vector per Direction::kIn parameter, in order, each of the
  /// parameter's size; it is rounded to the parameter's type. A kernel with a workspace is launched twice on
  /// it, in two schedules, and the results must be the same to the bit. The second launch is counted.
  Result run(std::size_t index, const std::vector<std::vector<float>>& inputs,
             const Schedule& schedule = {}) const;
  /// Does the same with the inputs' bytes.
  Result run_bytes(std::size_t index, const std::vector<std::vector<unsigned char>>& inputs,
                   const Schedule& schedule = {}) const;

 private:
  struct Library;
  std::vector<Source> sources_;
  std::unique_ptr<Library> library_;
};

}  // namespace lehr::emulator
