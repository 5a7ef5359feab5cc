#include "tests/support/verify_declarations.h"

#include <fmt/core.h>

#include <algorithm>
#include <cctype>
#include <set>
#include <utility>

#include "ir/print.h"
#include "tests/support/verify_targets.h"

namespace lehr::ir {
namespace {

bool is_identifier(const std::string& name) {
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) == 0 &&
         std::all_of(name.begin(), name.end(),
                     [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

/// Limits of tensor maps: CUDA Driver API, cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col.
constexpr std::int64_t kMaxBox = 256;
constexpr std::int64_t kMaxPixels = 1024;
/// CUDA C++ Programming Guide 13.0, "Thread Block Clusters": the size that every device with clusters has.
constexpr int kLargestCluster = 8;

class Declarations {
 public:
  explicit Declarations(const Kernel& kernel) : kernel_(kernel) {}

  std::optional<std::string> run() {
    declarations();
    return std::move(error_);
  }

 private:
  template <typename... Args>
  bool fail(fmt::format_string<Args...> format, Args&&... args) {
    error_ = fmt::format(format, std::forward<Args>(args)...);
    return false;
  }

  bool declarations() {
    if (!is_identifier(kernel_.name)) return fail("the name '{}' is not a C identifier", kernel_.name);
    std::set<std::string> names;
    const auto claim = [&](const std::string& name) {
      if (!is_identifier(name)) return fail("the name '{}' is not a C identifier", name);
      return names.insert(name).second || fail("the name {} is used twice", name);
    };
    for (const std::string& name : var_names(kernel_))
      if (!claim(name)) return false;
    for (const Buffer& buffer : kernel_.buffers) {
      if (!claim(buffer.name)) return false;
      if (buffer.scope != Scope::kGlobal && buffer.elements <= 0)
        return fail("buffer {} has {} elements, it needs at least 1", buffer.name, buffer.elements);
      if (buffer.lanes < 1 || (buffer.lanes > 1 && buffer.scope != Scope::kRegister) ||
          buffer.elements % buffer.lanes != 0)
        return fail("buffer {} cannot keep {} elements as vectors of {}", buffer.name, buffer.elements,
                    buffer.lanes);
      if (buffer.scope == (kernel_.target.has(Feature::kBlocks) ? Scope::kScratch : Scope::kShared))
        return fail("buffer {} is {}, which the target {} does not have", buffer.name,
                    ir::name_of(buffer.scope), lehr::name_of(kernel_.target));
    }
    if (!cluster_rules()) return false;
    if (kernel_.programmatic && !allows(kernel_.target, &Allowed::overlap))
      return fail("it overlaps other launches, which only kernels for {} do", names_with(&Allowed::overlap));
    std::set<BufferId> listed;
    bool has_workspace = false, has_prepacked = false;
    for (const Param& param : kernel_.params) {
      if (!has(param.buffer))
        return fail("a parameter is buffer #{}, which does not exist", static_cast<int>(param.buffer));
      if (kernel_.buffer(param.buffer).scope != Scope::kGlobal)
        return fail("parameter {} is {}, it must be global", name(param.buffer),
                    ir::name_of(kernel_.buffer(param.buffer).scope));
      if (!listed.insert(param.buffer).second)
        return fail("parameter {} is listed twice", name(param.buffer));
      const bool is_workspace = param.direction == Direction::kWorkspace;
      if (has_workspace && !is_workspace)
        return fail("parameter {} stands behind a workspace", name(param.buffer));
      has_workspace = is_workspace;
      const bool is_prepacked = param.direction == Direction::kPrepacked;
      if (is_prepacked && !allows(kernel_.target, &Allowed::prepack))
        return fail("{} is prepacked, which only kernels for {} have", name(param.buffer),
                    names_with(&Allowed::prepack));
      if (has_prepacked && !is_prepacked)
        return fail("parameter {} stands behind a prepacked one", name(param.buffer));
      has_prepacked = is_prepacked;
      if (param.map && !map_rules(param)) return false;
    }
    return true;
  }

  bool cluster_rules() {
    if (kernel_.cluster == 1) return true;
    if (!allows(kernel_.target, &Allowed::clusters))
      return fail("its blocks form clusters, which only {} has", names_with(&Allowed::clusters));
    if (kernel_.cluster < 1 || kernel_.cluster > kLargestCluster)
      return fail("clusters of {} blocks; they have 1 to {}", kernel_.cluster, kLargestCluster);
    return true;
  }

  bool map_rules(const Param& param) {
    const TensorMap& map = *param.map;
    const std::string& who = kernel_.buffer(param.buffer).name;
    const std::int64_t bytes = size_of(kernel_.buffer(param.buffer).type);
    if (!allows(kernel_.target, &Allowed::tensor_maps))
      return fail("{} has a tensor map, which only kernels for {} have", who,
                  names_with(&Allowed::tensor_maps));
    if (map.rank < 1 || map.rank > TensorMap::kMaxRank)
      return fail("the tensor map of {} has {} dimensions, it can have 1 to {}", who, map.rank,
                  TensorMap::kMaxRank);
    std::int64_t last = 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(map.rank); ++d) {
      const bool in_box = d == 0 || !map.im2col;
      if (map.dims[d] < 1 || (in_box && (map.box[d] < 1 || map.box[d] > kMaxBox)))
        return fail("dimension {} of the tensor map of {} has {} elements and a box of {}; a box has 1 to {}",
                    d, who, map.dims[d], map.box[d], kMaxBox);
      if (d == 0 ? map.strides[d] != 1 : map.strides[d] * bytes % 16 != 0)
        return fail("dimension {} of the tensor map of {} has a stride of {} elements; {}", d, who,
                    map.strides[d], d == 0 ? "the innermost is 1" : "it must be a multiple of 16 bytes");
      last += (map.dims[d] - 1) * map.strides[d];
    }
    if (last >= kernel_.buffer(param.buffer).elements)
      return fail("the tensor map of {} reaches element {} of {}", who, last,
                  kernel_.buffer(param.buffer).elements);
    const std::int64_t inner = map.box[0] * bytes;
    if (inner % 16 != 0 || (map.swizzle != 0 && inner > map.swizzle))
      return fail("a box of {} is {} bytes wide; it must be a multiple of 16 and no wider than the swizzle",
                  who, inner);
    return !map.im2col || im2col_rules(map, who);
  }

  bool im2col_rules(const TensorMap& map, const std::string& who) {
    if (map.rank != 4) return fail("{} has {} dimensions, an im2col map is of (c, w, h, n)", who, map.rank);
    const Im2col& i = *map.im2col;
    if (i.pixels < 1 || i.pixels > kMaxPixels)
      return fail("an instruction reads {} pixels of {}, it can read 1 to {}", i.pixels, who, kMaxPixels);
    for (const std::size_t d : {0, 1}) {
      for (const std::int64_t corner : {i.lower[d], i.upper[d]})
        if (corner < Im2col::kLeastCorner || corner > Im2col::kMostCorner)
          return fail("a corner of {}'s bounding box is {}; it must be in [{}, {}]", who, corner,
                      Im2col::kLeastCorner, Im2col::kMostCorner);
      if (map.dims[d + 1] - 1 + i.upper[d] < i.lower[d])
        return fail("{}'s bounding box from {} to {} is empty", who, i.lower[d], i.upper[d]);
      if (i.step[d] < 1 || i.step[d] > Im2col::kMostStep)
        return fail("{} is read by steps of {}, they are 1 to {}", who, i.step[d], Im2col::kMostStep);
    }
    return true;
  }

  bool has(BufferId id) const { return static_cast<std::size_t>(id) < kernel_.buffers.size(); }
  const std::string& name(BufferId id) const { return kernel_.buffer(id).name; }

  const Kernel& kernel_;
  std::optional<std::string> error_;
};

}  // namespace

std::optional<std::string> why_bad_declarations(const Kernel& kernel) {
  return Declarations(kernel).run();
}

}  // namespace lehr::ir
