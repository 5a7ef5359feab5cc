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

/// What one launch did.
struct Result {
  std::optional<std::string> fault;  ///< the first wrong thing that a thread did
  std::vector<std::vector<float>>
      outputs;  ///< of the Direction::kOut parameters, in order; NaN where nothing was written
  std::vector<Traffic> traffic;  ///< per parameter
  Traffic shared;
  std::int64_t barriers = 0;  ///< executed by all blocks together
};

class Program {
 public:
  /// Compiles all sources, two at a time. Throws Error(kEnvironment) with the compiler's words when one does
  /// not compile.
  explicit Program(std::span<const Source> sources);
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// Runs source `index`. `inputs`: one vector per Direction::kIn parameter, in order, each of the
  /// parameter's size.
  Result run(std::size_t index, const std::vector<std::vector<float>>& inputs,
          Order order = Order::kForward) const;

 private:
  struct Library;
  std::vector<Source> sources_;
  std::unique_ptr<Library> library_;
};

/// The text that is compiled: device.h, the source without the functions that are inline PTX (device.h has a
/// second body of each), and a caller `emulated_entry_<index>` that takes the arguments as an array of
/// pointers.
std::string translate(const Source& source, std::size_t index);

}  // namespace lehr::emulator
