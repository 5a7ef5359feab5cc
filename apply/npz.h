// Arrays of a .npz file, as numpy.savez and savez_compressed write it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace lehr {

struct NpzArray {
  std::string name;
  std::string type;  ///< NumPy's: "<f4", "|u1", ...
  std::vector<std::int64_t> shape;
  std::string bytes;  ///< of the elements in row-major order
};

/// All arrays of the file. Throws Error(kUser), one sentence, for what cannot be read, is no such file, is
/// damaged, or holds what is no array of numbers.
std::vector<NpzArray> read_npz(const std::string& path);

}  // namespace lehr
