// Checks whether a device's check finds planted faults.
#pragma once

#include <string>
#include <vector>

#include "measure/cuda/cuda_tensors.h"

namespace lehr {

class CudaChecker;

/// The output that a drill uses.
struct DrilledOutput {
  std::size_t argument = 0;  ///< position in the problem
  std::size_t number = 0;    ///< position among the outputs
  const Argument& known;     ///< the expected value of each element, including nothing_expected()
};

/// Plants faults on the device, one after the other: an unwritten output, wrong elements at its beginning,
/// middle and end, NaNs, poison, bytes of guards, bits of inputs, an expected value. Returns which one was
/// not found, or what was found although it was not there; "" if all is well. Afterwards the output is
/// poison, and everything else as before.
std::string drill(const CudaChecker& checker, const CudaTensors& tensors, const DrilledOutput& output);

}  // namespace lehr
