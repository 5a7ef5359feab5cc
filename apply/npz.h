// Reads arrays of a .npz file, as numpy.savez and savez_compressed write it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lehr {

struct NpzArray {
  std::string name;
  std::string type;  ///< NumPy's name of the type: "<f4", "|u1", ...
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< the elements in row-major order
};

/// Returns all arrays of the file. Throws Error(kUser) with one sentence if the file cannot be read, is not a
/// .npz file, is damaged, or has an array whose elements are not numbers.
std::vector<NpzArray> read_npz(const std::string& path);

}  // namespace lehr
