// What a manifest says of kernels for CUDA: launches and tensor maps, within the driver's limits.
#include <cstring>

#include "runtime/manifest.h"

namespace lehr::runtime {
namespace {

// CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability"; clusters: what every
// device with clusters has.
constexpr std::uint64_t kMostGrid[] = {(1ull << 31) - 1, 65535, 65535}, kMostBlock[] = {1024, 1024, 64};
constexpr std::uint64_t kMostThreads = 1024, kMostCluster = 8, kMostSharedBytes = 1u << 20;
// CUDA Driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
constexpr std::uint64_t kMostDim = 1ull << 32, kMostStride = (1ull << 40) - 16, kMostBox = 256,
                        kMostPixels = 1024, kMostStep = 8, kMostSwizzle = 3;
constexpr double kLeastCorner = -128, kMostCorner = 127;
// Bytes of each of enum CUtensorMapDataType.
constexpr std::uint64_t kElementBytes[] = {1, 2, 4, 4, 8, 8, 2, 4, 8, 2, 4, 4, 4};
// Copies of padded slices lie so, and a workspace's counters need no more.
constexpr std::uint32_t kMostTensorAlignment = 64;

/// Reads one kernel; the first thing that is wrong ends it.
class CudaReader {
 public:
  CudaReader(const Json& json, Manifest& manifest, ManifestKernel& kernel)
      : json_(json), manifest_(manifest), kernel_(kernel) {}

  const char* wrong = nullptr;
  bool no_memory = false;

  bool read(std::uint32_t at) {
    ManifestLaunch launch;
    if (!params(at) || !launch_of(json_.member(at, "launch"), launch)) return false;
    kernel_.launch = static_cast<std::uint32_t>(manifest_.launches.size());
    no_memory = !manifest_.launches.add(launch);
    return !no_memory;
  }

 private:
  bool is(const char* what) {
    wrong = what;
    return false;
  }

  // Exactly `count` whole numbers from `least` to `most`.
  template <typename T>
  bool numbers(std::uint32_t at, std::size_t count, std::uint64_t least, std::uint64_t most,
               T* values) const {
    if (at == Json::kNone || json_[at].kind != JsonKind::kArray) return false;
    std::size_t found = 0;
    for (std::uint32_t i = json_.first(at); i != Json::kNone; i = json_.after(at, i), ++found) {
      std::uint64_t value = 0;
      if (found == count || !json_.whole(i, value) || value < least || value > most) return false;
      values[found] = static_cast<T>(value);
    }
    return found == count;
  }
  template <typename T>
  bool number(std::uint32_t object, std::string_view name, std::uint64_t least, std::uint64_t most,
              T& to) const {
    std::uint64_t value = 0;
    if (!json_.whole(json_.member(object, name), value) || value < least || value > most) return false;
    to = static_cast<T>(value);
    return true;
  }

  bool launch_of(std::uint32_t at, ManifestLaunch& launch) {
    const bool whole = numbers(json_.member(at, "grid"), 3, 1, kMostGrid[0], launch.grid.data()) &&
                       numbers(json_.member(at, "block"), 3, 1, kMostBlock[0], launch.block.data());
    for (std::size_t d = 0; d < 3; ++d)
      if (!whole || launch.grid[d] > kMostGrid[d] || launch.block[d] > kMostBlock[d])
        return is("has a kernel whose grid no GPU takes");
    if (std::uint64_t{launch.block[0]} * launch.block[1] * launch.block[2] > kMostThreads)
      return is("has a kernel whose blocks no GPU takes");
    if (!number(at, "cluster", 1, kMostCluster, launch.cluster) || launch.grid[0] % launch.cluster != 0)
      return is("has a kernel whose clusters no GPU takes");
    if (!number(at, "shared_bytes", 0, kMostSharedBytes, launch.shared_bytes) ||
        !json_.boolean(json_.member(at, "programmatic"), launch.programmatic) ||
        !number(at, "multiprocessors", 1, 1u << 16, launch.multiprocessors) || !compiler_of(at, launch))
      return is("has a launch with a member that is missing or of the wrong kind");
    return arch_of(launch) && ptx_of(at, launch);
  }

  bool compiler_of(std::uint32_t at, ManifestLaunch& launch) const {
    std::uint32_t version[2];
    if (!numbers(json_.member(at, "compiler"), 2, 0, 99, version)) return false;
    launch.compiler = 1000 * version[0] + 10 * version[1];
    return true;
  }

  // "sm_90", "sm_90a"; other letters are not known.
  bool arch_of(ManifestLaunch& launch) {
    std::string_view digits = kernel_.arch;
    if (digits.size() < 5 || std::memcmp(digits.data(), "sm_", 3) != 0)
      return is("has a kernel for an unknown GPU");
    digits.remove_prefix(3);
    if (digits[digits.size() - 1] == 'a') {
      launch.this_arch_alone = true;
      digits.remove_suffix(1);
    }
    if (digits.size() < 2 || digits.size() > 3) return is("has a kernel for an unknown GPU");
    for (const char digit : digits) {
      if (digit < '0' || digit > '9') return is("has a kernel for an unknown GPU");
      launch.arch = launch.arch * 10 + static_cast<std::uint32_t>(digit - '0');
    }
    return true;
  }

  bool ptx_of(std::uint32_t at, ManifestLaunch& launch) {
    const std::uint32_t ptx = json_.member(at, "ptx");
    if (ptx == Json::kNone) return true;
    std::string_view path;
    if (!json_.string(ptx, path)) return is("has PTX without a file");
    for (std::size_t i = 0; i < manifest_.files.size(); ++i)
      if (manifest_.files[i].path == path) return launch.ptx = static_cast<std::uint32_t>(i), true;
    return is("has PTX in a file whose hash it does not have");
  }

  bool params(std::uint32_t at) {
    std::uint32_t index = kernel_.first_param;
    const std::uint32_t list = json_.member(at, "params");
    for (std::uint32_t i = json_.first(list); i != Json::kNone; i = json_.after(list, i)) {
      ManifestParam& param = manifest_.params[index++];
      if (param.role == LEHR_PREPACKED) return is("has a kernel for a GPU with a prepacked parameter");
      const bool workspace = param.role == LEHR_WORKSPACE;
      kernel_.workspaces += workspace;
      if (workspace ? param.slice_bytes != 0 : param.alignment > kMostTensorAlignment)
        return is("has a parameter of a GPU's kernel that nobody can slice or align");
      const std::uint32_t map = json_.member(i, "tensor_map");
      if (map == Json::kNone) continue;
      if (workspace) return is("has a tensor map of a workspace");
      CudaTensorMapArguments arguments;
      if (!map_of(map, param, arguments)) return is("has a tensor map that no driver takes");
      param.map = static_cast<std::uint32_t>(manifest_.maps.size());
      ++kernel_.maps;
      no_memory = !manifest_.maps.add(arguments);
      if (no_memory) return false;
    }
    return true;
  }

  bool map_of(std::uint32_t at, const ManifestParam& param, CudaTensorMapArguments& map) const {
    const std::uint32_t box = json_.member(at, "box"), dims = json_.member(at, "dims");
    map.im2col = box == Json::kNone;
    while (map.rank <= map.kMaxRank && element(dims, map.rank) != Json::kNone) ++map.rank;
    if (map.rank == 0 || map.rank > map.kMaxRank || (map.im2col && map.rank != 4)) return false;
    if (!number(at, "type", 0, sizeof kElementBytes / sizeof *kElementBytes - 1, map.type) ||
        !number(at, "swizzle", 0, kMostSwizzle, map.swizzle) ||
        !numbers(dims, map.rank, 1, kMostDim, map.dims.data()) ||
        !numbers(json_.member(at, "stride_bytes"), map.rank - 1, 16, kMostStride, map.stride_bytes.data()) ||
        !numbers(json_.member(at, "steps"), map.rank, 1, kMostStep, map.steps.data()))
      return false;
    if (map.im2col ? !im2col_of(at, map) : !numbers(box, map.rank, 1, kMostBox, map.box.data())) return false;
    const std::uint64_t element = kElementBytes[map.type];
    const std::uint64_t inner = element * (map.im2col ? map.channels : map.box[0]);
    if (inner % 16 != 0 || (map.swizzle != 0 && inner > 16u << map.swizzle) || param.alignment < 16)
      return false;
    std::uint64_t end = map.dims[0] * element;
    for (std::size_t d = 1; d < map.rank; ++d) {
      std::uint64_t reach = 0;
      if (map.stride_bytes[d - 1] % 16 != 0 ||
          __builtin_mul_overflow(map.dims[d] - 1, map.stride_bytes[d - 1], &reach) ||
          __builtin_add_overflow(end, reach, &end))
        return false;
    }
    return end <= param.bytes;
  }

  bool im2col_of(std::uint32_t at, CudaTensorMapArguments& map) const {
    return number(at, "channels", 1, kMostBox, map.channels) &&
           number(at, "pixels", 1, kMostPixels, map.pixels) && corner(json_.member(at, "lower"), map.lower) &&
           corner(json_.member(at, "upper"), map.upper);
  }

  bool corner(std::uint32_t at, std::array<int, 2>& to) const {
    for (std::uint32_t d = 0; d < 2; ++d) {
      double value = 0;
      const std::uint32_t each = element(at, d);
      if (each == Json::kNone || !json_.number(each, value) ||
          !(value >= kLeastCorner && value <= kMostCorner))
        return false;
      to[d] = static_cast<int>(value);
      if (to[d] != value) return false;
    }
    return element(at, 2) == Json::kNone;
  }

  // The value at a place of an array; kNone where there is no such place.
  std::uint32_t element(std::uint32_t array, std::uint32_t place) const {
    if (array == Json::kNone || json_[array].kind != JsonKind::kArray) return Json::kNone;
    std::uint32_t at = json_.first(array);
    while (at != Json::kNone && place-- > 0) at = json_.after(array, at);
    return at;
  }

  const Json& json_;
  Manifest& manifest_;
  ManifestKernel& kernel_;
};

}  // namespace

const char* read_cuda_kernel(const Json& json, std::uint32_t at, Manifest& manifest, ManifestKernel& kernel,
                             bool& no_memory) {
  CudaReader reader(json, manifest, kernel);
  if (reader.read(at)) return nullptr;
  no_memory = reader.no_memory;
  return reader.wrong;
}

}  // namespace lehr::runtime
