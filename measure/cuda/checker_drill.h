// Checks whether a device's check finds planted faults.
#pragma once

#include <string>
#include <vector>

#include "measure/cuda/cuda_tensors.h"

namespace lehr {

class CudaChecker;

/// The output of a problem that a drill uses.
struct DrilledOutput {
  std::size_t argument = 0;  ///< position in the problem
  std::size_t number = 0;    ///< position among the outputs
  /// Has an entry for each element; nothing_expected() if the element has no expected value.
  const Argument& known;
};

/// Plants faults on the device, one after the other: an unwritten output, wrong elements at its beginning,
/// middle and end, NaNs, poison, changed bytes of guards, changed bits of inputs, and a changed expected
/// value. Returns the fault that was not found, or the fault that was reported although it was not there; ""
/// if all is well. Afterwards the output is poisoned, and everything else is as before.
std::string drill(const CudaChecker& checker, const CudaTensors& tensors, const DrilledOutput& output);

}  // namespace lehr
