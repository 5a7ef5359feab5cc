#include "runtime/manifest.h"

#include <climits>
#include <cstring>

#include "runtime/hash.h"
#include "runtime/message.h"
#include "runtime/self_test.h"
#include "runtime/sha256.h"
#include "runtime/words.h"

namespace lehr::runtime {
namespace {

// A file's name is nothing but a place below the folder.
bool is_path(std::string_view path) {
  if (path.empty() || path.size() > 255 || path[0] == '/') return false;
  char before = '/';
  for (const char c : path) {
    const bool plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
    const bool inner = c == '.' || c == '/';  // no word is empty or begins with a dot
    if (!plain && !(inner && before != '/')) return false;
    before = c;
  }
  return before != '/';
}

bool is_hash(std::string_view text) {
  if (text.size() != 64) return false;
  for (const char c : text)
    if (!((c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'))) return false;
  return true;
}

// What a dynamic linker is asked for.
bool is_identifier(std::string_view text) {
  if (text.empty() || text.size() > 255 || (text[0] >= '0' && text[0] <= '9')) return false;
  for (const char c : text)
    if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'))
      return false;
  return true;
}

// One worker's: that of any number of workers is less than 2^63.
constexpr std::uint64_t kMostScratch = std::uint64_t{1} << 31;
// What value_of() reads, too.
constexpr std::uint64_t kMostRows = 999999999999;

/// Reads one document into a manifest; the first thing that is wrong ends it.
class Reader {
 public:
  Reader(const Json& json, Manifest& manifest) : json_(json), manifest_(manifest) {}

  const char* wrong = nullptr;  ///< what is, as a sentence's middle
  bool no_memory = false;

  bool read() {
    std::string_view format;
    std::uint64_t version = 0;
    if (!json_.string(json_.member(0, "format"), format) || format != kManifestFormat)
      return is("is no manifest of a bundle's folder");
    if (!json_.whole(json_.member(0, "version"), version) || version == 0) return is("has no version");
    if (version > kManifestVersion) return is("is of a newer version than this library reads");
    if (!files() || !kernels()) return false;
    wrong = read_sets(json_, manifest_, no_memory);
    if (wrong != nullptr || no_memory) return false;
    bool has_rows = manifest_.sets.size() > 0;
    for (const ManifestKernel& kernel : manifest_.kernels) has_rows = has_rows || kernel.rows > 0;
    return !has_rows || version >= kManifestVersionOfRows ||
           is("has kernels for any number of rows, which its version does not have");
  }

 private:
  bool is(const char* what) {
    wrong = what;
    return false;
  }
  template <typename T>
  bool add(Array<T>& to, const T& value) {
    no_memory = !to.add(value);
    return !no_memory;
  }

  bool files() {
    const std::uint32_t files = json_.member(0, "files");
    if (files == Json::kNone || json_[files].kind != JsonKind::kObject) return is("lists no files");
    for (std::uint32_t at = json_.first(files); at != Json::kNone; at = json_.after(files, at)) {
      ManifestFile file{json_[at].key, {}};
      if (!is_path(file.path)) return is("names a file outside of its folder");
      if (!json_.string(at, file.sha256) || !is_hash(file.sha256)) return is("has a file without a hash");
      if (!add(manifest_.files, file)) return false;
      if (manifest_.files.size() > Manifest::kMostFiles) return is("lists too many files");
    }
    return true;
  }

  bool kernels() {
    const std::uint32_t kernels = json_.member(0, "kernels");
    if (kernels == Json::kNone || json_[kernels].kind != JsonKind::kArray) return is("lists no kernels");
    for (std::uint32_t at = json_.first(kernels); at != Json::kNone; at = json_.after(kernels, at)) {
      ManifestKernel kernel;
      if (!kernel_at(at, kernel) || !add(manifest_.kernels, kernel)) return false;
      if (manifest_.kernels.size() > Manifest::kMostKernels) return is("lists too many kernels");
    }
    return true;
  }

  bool kernel_at(std::uint32_t at, ManifestKernel& kernel) {
    std::uint64_t threads = 0;
    const bool whole = json_.string(json_.member(at, "name"), kernel.name) &&
                       json_.string(json_.member(at, "workload"), kernel.workload) &&
                       json_.string(json_.member(at, "defaults"), kernel.defaults) &&
                       json_.string(json_.member(at, "shorter"), kernel.shorter) &&
                       json_.string(json_.member(at, "target"), kernel.target) &&
                       json_.string(json_.member(at, "machine"), kernel.machine) &&
                       json_.string(json_.member(at, "arch"), kernel.arch) &&
                       json_.whole(json_.member(at, "threads"), threads) &&
                       json_.boolean(json_.member(at, "cold"), kernel.cold) &&
                       json_.number(json_.member(at, "time_us"), kernel.time_us) &&
                       json_.number(json_.member(at, "max_error"), kernel.max_error) &&
                       json_.whole(json_.member(at, "scratch_bytes"), kernel.scratch_bytes);
    if (!whole) return is("has a kernel with a member that is missing or of the wrong kind");
    if (!is_identifier(kernel.name)) return is("has a kernel whose name is not one of a function");
    if (kernel.scratch_bytes > kMostScratch) return is("has a kernel with more scratch than any has");
    const bool on_cuda = json_.member(at, "launch") != Json::kNone;
    if ((threads == 0) != on_cuda || threads > 1u << 16)
      return is("has a kernel for an impossible number of threads");
    if (!on_cuda && kernel.machine.empty()) return is("has a kernel for no processor");
    kernel.threads = static_cast<std::uint32_t>(threads);
    if (!file_of(at, kernel) || !features_of(at, kernel) || !params_of(at, kernel) || !roles_fit(kernel) ||
        !slices_of(at, kernel) || !rows_of(at, kernel) || !slices_fit(kernel))
      return false;
    if (!on_cuda) {
      if (!steps_of(at, kernel) || !prepack_of(at, kernel) || !prepack_fits(kernel)) return false;
      kernel.call_hash = call_hash(kernel, params(kernel), &manifest_.steps[kernel.first_step]);
      return self_test_of(at, kernel);
    }
    const char* const complaint = read_cuda_kernel(json_, at, manifest_, kernel, no_memory);
    return complaint == nullptr ? !no_memory : is(complaint);
  }

  const ManifestParam* params(const ManifestKernel& kernel) const {
    return &manifest_.params[kernel.first_param];
  }

  // Tensors, one of them written, then what is prepacked, or workspaces; each of another name.
  bool roles_fit(const ManifestKernel& kernel) {
    const ManifestParam* const all = params(kernel);
    std::uint32_t tensors = 0, outputs = 0;
    for (std::uint32_t i = 0; i < kernel.params; ++i) {
      const bool is_tensor = all[i].role == LEHR_IN || all[i].role == LEHR_OUT;
      if (is_tensor && tensors != i) return is("has a tensor behind a parameter that is none");
      tensors += is_tensor;
      outputs += all[i].role == LEHR_OUT;
      for (std::uint32_t before = 0; before < i; ++before)
        if (all[before].name == all[i].name) return is("has two parameters of one name");
    }
    return outputs > 0 || is("has a kernel without an output");
  }

  // What a slice has times their number is what the tensor has, and the workload says that number.
  bool slices_fit(const ManifestKernel& kernel) {
    if (kernel.slice_field.empty()) return true;
    std::uint64_t least = 1, most = 0;
    if (kernel.rows == 0) most = value_of(kernel.workload, kernel.slice_field);
    if (kernel.rows > 0) range_of(kernel.workload, kernel.slice_field, least, most);
    if (most != kernel.slices || least != 1)
      return is("has a kernel with another number of slices than its workload");
    for (std::uint32_t i = 0; i < kernel.params; ++i) {
      const ManifestParam& param = params(kernel)[i];
      std::uint64_t bytes = 0;
      if (param.slice_bytes == 0 && param.role != LEHR_OUT) continue;
      if (param.role == LEHR_PREPACKED || param.role == LEHR_WORKSPACE ||
          __builtin_mul_overflow(param.slice_bytes, kernel.slices, &bytes) || bytes != param.bytes ||
          (param.dimensions > 0 && manifest_.dimensions[param.first_dimension].size != kernel.slices))
        return is("has a kernel whose slices do not make up its tensors");
    }
    return true;
  }

  // What is prepacked is filled by a step of its own, from inputs.
  bool prepack_fits(const ManifestKernel& kernel) {
    bool has_prepacked = false;
    for (std::uint32_t i = 0; i < kernel.params; ++i) {
      const std::uint32_t role = params(kernel)[i].role;
      if (role == LEHR_WORKSPACE) return is("has a kernel for the CPU with a workspace");
      if ((kernel.prepack_reads >> i & 1) != 0 && role != LEHR_IN)
        return is("prepacks a parameter that is no input");
      has_prepacked = has_prepacked || role == LEHR_PREPACKED;
    }
    return has_prepacked == !kernel.prepack.entry.empty() ||
           is("has prepacked parameters without a prepack, or the other way round");
  }

  bool file_of(std::uint32_t at, ManifestKernel& kernel) {
    std::string_view path;
    if (!json_.string(json_.member(at, "file"), path)) return is("has a kernel without a file");
    for (std::size_t i = 0; i < manifest_.files.size(); ++i)
      if (manifest_.files[i].path == path) return kernel.file = static_cast<std::uint32_t>(i), true;
    return is("has a kernel in a file whose hash it does not have");
  }

  bool features_of(std::uint32_t at, ManifestKernel& kernel) {
    const std::uint32_t features = json_.member(at, "features");
    if (features == Json::kNone || json_[features].kind != JsonKind::kArray)
      return is("has a kernel without the processor features that it needs");
    for (std::uint32_t i = json_.first(features); i != Json::kNone; i = json_.after(features, i)) {
      std::string_view name;
      if (!json_.string(i, name)) return is("has a processor feature without a name");
      const CpuFeatures bit = cpu_feature_named(name);
      if (bit == 0) kernel.unknown_feature = name;
      kernel.features |= bit;
    }
    return true;
  }

  bool params_of(std::uint32_t at, ManifestKernel& kernel) {
    const std::uint32_t params = json_.member(at, "params");
    kernel.first_param = static_cast<std::uint32_t>(manifest_.params.size());
    for (std::uint32_t i = json_.first(params); i != Json::kNone; i = json_.after(params, i)) {
      ManifestParam param;
      std::string_view role;
      std::uint64_t alignment = 0;
      const bool whole = json_.string(json_.member(i, "name"), param.name) &&
                         json_.string(json_.member(i, "dtype"), param.dtype) &&
                         json_.string(json_.member(i, "role"), role) &&
                         json_.whole(json_.member(i, "bytes"), param.bytes) &&
                         json_.whole(json_.member(i, "alignment"), alignment) &&
                         json_.whole(json_.member(i, "slice_bytes"), param.slice_bytes);
      if (!whole) return is("has a parameter with a member that is missing or of the wrong kind");
      if (alignment == 0 || alignment > 4096 || (alignment & (alignment - 1)) != 0)
        return is("has a parameter whose alignment is no power of two");
      param.alignment = static_cast<std::uint32_t>(alignment);
      if (!role_named(role, param.role)) return is("has a parameter of an unknown role");
      const ElementType* const type = element_type(param.dtype);
      if (type == nullptr) return is("has a parameter of an unknown type");
      if (param.bytes == 0 || param.bytes % (type->bits / 8u) != 0)
        return is("has a parameter whose bytes are no elements of its type");
      if (!shape_of(i, type->bits / 8u, param)) return false;
      const std::uint32_t constant = json_.member(i, "constant");
      if (constant != Json::kNone && !json_.boolean(constant, param.constant))
        return is("has a parameter whose constant is neither true nor false");
      if (!add(manifest_.params, param)) return false;
      if (++kernel.params > Manifest::kMostParams) return is("has a kernel with too many parameters");
    }
    return kernel.params > 0 || is("has a kernel without parameters");
  }

  // Its dimensions hold all of its elements; nothing where it does not tell them.
  bool shape_of(std::uint32_t at, std::uint64_t element, ManifestParam& param) {
    const std::uint32_t sizes = json_.member(at, "shape"), strides = json_.member(at, "strides");
    std::uint64_t elements = 1, last = 0, reach = 0;
    std::uint32_t stride = json_.first(strides);
    param.first_dimension = static_cast<std::uint32_t>(manifest_.dimensions.size());
    for (std::uint32_t i = json_.first(sizes); i != Json::kNone; i = json_.after(sizes, i)) {
      ManifestDimension one;
      if (++param.dimensions > LEHR_MOST_DIMENSIONS || !json_.whole(i, one.size) || one.size == 0 ||
          !json_.whole(stride, one.stride) || one.stride == 0 ||
          __builtin_mul_overflow(elements, one.size, &elements) ||
          __builtin_mul_overflow(one.size - 1, one.stride, &reach) ||
          __builtin_add_overflow(last, reach, &last))
        return is("has a parameter of an impossible shape");
      if (!add(manifest_.dimensions, one)) return false;
      stride = json_.after(strides, stride);
    }
    if (stride != Json::kNone ||
        (param.dimensions > 0 && (elements != param.bytes / element || last != elements - 1)))
      return is("has a parameter whose shape is not that of its bytes");
    return true;
  }

  bool step_at(std::uint32_t at, ManifestStep& step) {
    if (!json_.string(json_.member(at, "entry"), step.entry) || !is_identifier(step.entry) ||
        !json_.whole(json_.member(at, "tasks"), step.tasks) || step.tasks == 0 || step.tasks > LONG_MAX)
      return is("has a kernel with a step that has no function or no tasks");
    return true;
  }

  bool steps_of(std::uint32_t at, ManifestKernel& kernel) {
    const std::uint32_t steps = json_.member(at, "steps");
    kernel.first_step = static_cast<std::uint32_t>(manifest_.steps.size());
    for (std::uint32_t i = json_.first(steps); i != Json::kNone; i = json_.after(steps, i)) {
      ManifestStep step;
      if (!step_at(i, step) || !add(manifest_.steps, step)) return false;
      ++kernel.steps;
    }
    return kernel.steps > 0 || is("has a kernel without steps");
  }

  bool prepack_of(std::uint32_t at, ManifestKernel& kernel) {
    const std::uint32_t prepack = json_.member(at, "prepack");
    if (prepack == Json::kNone) return true;
    if (!step_at(prepack, kernel.prepack)) return false;
    if (!json_.string(json_.member(prepack, "layout"), kernel.prepack_layout))
      return is("has prepacked parameters without a layout");
    const std::uint32_t reads = json_.member(prepack, "reads");
    for (std::uint32_t i = json_.first(reads); i != Json::kNone; i = json_.after(reads, i)) {
      std::uint64_t param = 0;
      if (!json_.whole(i, param) || param >= kernel.params)
        return is("prepacks a parameter that is not there");
      kernel.prepack_reads |= std::uint64_t{1} << param;
    }
    return true;
  }

  bool slices_of(std::uint32_t at, ManifestKernel& kernel) {
    const std::uint32_t slices = json_.member(at, "slices");
    if (slices == Json::kNone) return true;
    if (!json_.string(json_.member(slices, "field"), kernel.slice_field) ||
        !json_.whole(json_.member(slices, "size"), kernel.slices) || kernel.slices == 0 ||
        !json_.boolean(json_.member(slices, "bucket"), kernel.bucket))
      return is("has a kernel whose slices have no field or no size");
    return true;
  }

  // Of a kernel that is told its number of rows: the most, which its slices are, too.
  bool rows_of(std::uint32_t at, ManifestKernel& kernel) {
    const std::uint32_t rows = json_.member(at, "rows");
    if (rows == Json::kNone) return true;
    if (!json_.whole(rows, kernel.rows) || kernel.rows == 0 || kernel.rows > kMostRows)
      return is("has a kernel for an impossible number of rows");
    if (kernel.threads == 0) return is("has a kernel for a GPU that is told its number of rows");
    return (kernel.slices == kernel.rows && !kernel.bucket) ||
           is("has a kernel for any number of rows whose slices are not the most of them");
  }

  // The elements of its one output; 0 where there is not one alone, or where a tensor is of no type that is
  // tested.
  std::uint64_t tested_elements(const ManifestKernel& kernel) const {
    std::uint64_t elements = 0;
    for (std::uint32_t i = 0; i < kernel.params; ++i) {
      const ManifestParam& param = manifest_.params[kernel.first_param + i];
      if (param.role == LEHR_PREPACKED) continue;
      if (tested_type(param.dtype) == nullptr || (param.role == LEHR_OUT && elements != 0)) return 0;
      if (param.role == LEHR_OUT) elements = param.bytes / tested_type(param.dtype)->bytes;
    }
    return elements;
  }

  // The mean and the deviation of each input, where one is not as usual.
  bool test_inputs_of(std::uint32_t inputs, const ManifestKernel& kernel) {
    if (inputs == Json::kNone) return true;
    std::uint32_t at = json_.first(inputs);
    for (std::uint32_t i = 0; i < kernel.params; ++i) {
      ManifestParam& param = manifest_.params[kernel.first_param + i];
      if (param.role != LEHR_IN) continue;
      const std::uint32_t mean = at == Json::kNone ? Json::kNone : json_.first(at);
      if (mean == Json::kNone || !json_.number(mean, param.test_mean) ||
          !json_.number(json_.after(at, mean), param.test_deviation))
        return is("has a self-test without a mean and a deviation of each input");
      at = json_.after(inputs, at);
    }
    return at == Json::kNone || is("has a self-test of more inputs than it takes");
  }

  bool self_test_of(std::uint32_t at, ManifestKernel& kernel) {
    const std::uint32_t test = json_.member(at, "self_test");
    if (test == Json::kNone) return true;
    const std::uint32_t samples = json_.member(test, "output");
    std::uint64_t elements = tested_elements(kernel);
    kernel.first_sample = static_cast<std::uint32_t>(manifest_.samples.size());
    if (!json_.number(json_.member(test, "tolerance"), kernel.tolerance) || samples == Json::kNone)
      return is("has a self-test without a tolerance or an output");
    if (!test_inputs_of(json_.member(test, "inputs"), kernel)) return false;
    if (kernel.rows > 0) {
      if (!json_.whole(json_.member(test, "rows"), kernel.test_rows) || kernel.test_rows == 0 ||
          kernel.test_rows > kernel.rows)
        return is("has a self-test of an impossible number of rows");
      elements = elements / kernel.rows * kernel.test_rows;
    }
    for (std::uint32_t i = json_.first(samples); i != Json::kNone; i = json_.after(samples, i)) {
      ManifestSample sample;
      const std::uint32_t index = json_.first(i);
      if (!json_.whole(index, sample.index) || sample.index >= elements ||
          !json_.number(json_.after(i, index), sample.value))
        return is("has a self-test of an element that is not there");
      if (!add(manifest_.samples, sample)) return false;
      ++kernel.samples;
    }
    return true;
  }

  const Json& json_;
  Manifest& manifest_;
};

// The hash is that of the text with zeros in its place, so that nothing of it can change unseen.
const char* own_hash_error(char* text, std::size_t size) {
  constexpr std::string_view kMember = "\"sha256\": \"";
  constexpr std::size_t kDigits = 64;
  std::string_view all(text, size);
  const std::size_t member = all.rfind(kMember);
  if (member == std::string_view::npos || size - member < kMember.size() + kDigits)
    return "has no hash of itself";
  char* const digits = text + member + kMember.size();
  char stated[kDigits];
  std::memcpy(stated, digits, kDigits);
  std::memset(digits, '0', kDigits);
  Sha256 hash;
  hash.add(text, size);
  return std::memcmp(hash.hex().data(), stated, kDigits) == 0 ? nullptr : "was changed after it was written";
}

}  // namespace

bool role_named(std::string_view name, std::uint32_t& role) {
  constexpr struct {
    std::string_view name;
    std::uint32_t role;
  } kRoles[] = {
      {"in", LEHR_IN}, {"out", LEHR_OUT}, {"prepacked", LEHR_PREPACKED}, {"workspace", LEHR_WORKSPACE}};
  for (const auto& known : kRoles)
    if (known.name == name) return role = known.role, true;
  return false;
}

const ElementType* element_type(std::string_view name) {
  static constexpr ElementType kTypes[] = {{"f64", 2, 64}, {"f32", 2, 32}, {"f16", 2, 16},  {"bf16", 4, 16},
                                           {"s32", 0, 32}, {"s16", 0, 16}, {"s8", 0, 8},    {"s7", 0, 8},
                                           {"u8", 1, 8},   {"u32", 1, 32}, {"e4m3", 10, 8}, {"e5m2", 12, 8}};
  for (const ElementType& type : kTypes)
    if (type.name == name) return &type;
  return nullptr;
}

std::uint64_t call_hash(const ManifestKernel& kernel, const ManifestParam* params,
                        const ManifestStep* steps) {
  Hash hash;
  for (const ManifestParam* param = params; param != params + kernel.params; ++param)
    hash.add(param->name).add(param->dtype).add(param->role).add(param->bytes).add(param->alignment);
  for (const ManifestStep* step = steps; step != steps + kernel.steps; ++step)
    hash.add(step->entry).add(step->tasks);
  hash.add(kernel.scratch_bytes).add(kernel.prepack.entry).add(kernel.prepack.tasks);
  hash.add(kernel.prepack_reads);
  if (kernel.rows > 0) hash.add(kernel.rows);  // else as in version 1
  return hash.value();
}

lehr_status read_manifest(const char* where, char* text, std::size_t size, Manifest& manifest,
                          lehr_error* error) {
  if (const char* wrong = own_hash_error(text, size))
    return fail(error, LEHR_BAD_BUNDLE, "%s %s", where, wrong);
  Json json;
  if (const char* wrong = json.read(text, size))
    return fail(error, LEHR_BAD_BUNDLE, "%s is no JSON: %s", where, wrong);
  Reader reader(json, manifest);
  if (reader.read()) return LEHR_OK;
  if (reader.no_memory) return fail(error, LEHR_NO_MEMORY, "there is no memory for %s", where);
  return fail(error, LEHR_BAD_BUNDLE, "%s %s", where, reader.wrong);
}

}  // namespace lehr::runtime
