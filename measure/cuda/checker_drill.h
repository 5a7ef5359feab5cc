// Whether a device's check finds what is planted.
#pragma once

#include <string>
#include <vector>

#include "measure/cuda/cuda_tensors.h"

namespace lehr {

class CudaChecker;

/// What the drill must know of an output.
struct DrilledOutput {
  std::size_t argument = 0;  ///< in the problem
  std::size_t number = 0;    ///< among the outputs
  const Argument& known;     ///< what is expected of each element, nothing_expected() among it
};

/// Plants faults on the device, one after the other: an unwritten output, wrong elements at its begin, middle
/// and end, NaNs, poison, bytes of guards, bits of inputs, an expected value. Returns which one was not
/// found, or what was found that was not there; "" where all is well. The output is poison in the end, all
/// else as before.
std::string drill(const CudaChecker& checker, const CudaTensors& tensors, const DrilledOutput& output);

}  // namespace lehr
