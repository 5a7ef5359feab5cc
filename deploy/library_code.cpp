// Writes the code of a library: the runtime, its constant tables and the bodies of its functions.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "codegen/source_hash.h"
#include "deploy/deployment.h"
#include "deploy/library.h"
#include "deploy/library_names.h"
#include "deploy/shipped.h"
#include "ir/uses.h"
#include "measure/cuda/cuda_driver.h"
#include "runtime/cpu_features.h"

namespace lehr {
namespace {

// Returns the text as a C string literal. Special bytes are escaped as three octal digits, so that an escape
// never combines with the next character.
std::string c_string(std::string_view text) {
  std::string result = "\"";
  for (const char c : text) {
    const bool plain = c >= ' ' && c <= '~' && c != '"' && c != '\\' && c != '?';
    result += plain ? std::string(1, c) : fmt::format("\\{:03o}", static_cast<unsigned char>(c));
  }
  return result + "\"";
}

template <typename Values, typename Text>
std::string listed(const Values& values, Text text) {
  std::string result;
  for (const auto& value : values) result += fmt::format("{}{}", result.empty() ? "" : ", ", text(value));
  return result;
}

/// Returns "const T name[] = {...};", or "" if there are no elements.
std::string array_text(std::string_view type, const std::string& name, const std::string& elements) {
  return elements.empty() ? "" : fmt::format("const {} {}[] = {{{}}};\n", type, name, elements);
}

/// Writes the tables of one function, and collects its rows in the table of functions.
class FunctionText {
 public:
  FunctionText(const Library& library, std::size_t number)
      : library_(library), function_(library.functions[number]), number_(number) {}

  std::string arrays() {
    arrays_ = tensors();
    const bool on_cpu = function_.target.has(Feature::kHostFunction);
    std::string rows;
    for (std::size_t i = 0; i < function_.variants.size(); ++i)
      rows += fmt::format("{}{}", i == 0 ? "" : ",\n    ", on_cpu ? row(i) : cuda_variant(i));
    arrays_ += array_text(on_cpu ? "Variant" : "CudaKernel", name("variants"), rows);
    return std::move(arrays_);
  }

  /// Returns the function's element in the table of functions.
  std::string entry() const {
    const bool on_cpu = function_.target.has(Feature::kHostFunction);
    std::int64_t least = 0, most = 0;
    if (function_.has_rows()) {
      const CallRows rows = call_rows(function_.workload);
      least = std::max<std::int64_t>(rows.least, 1);
      most = rows.most;
      if (rows.open)
        for (const LibraryVariant& row : function_.variants) most = std::max(most, row.members.back().to);
    }
    const std::optional<std::size_t> packed = packed_tensor(function_);
    return fmt::format("    {{{{\"kernels_{}\", {}, {}, {}, {}, {}, {}}}, {}, {}, {}, {}, {}, {}}},\n",
                       function_.name, c_string(function_.text), name("tensors"), function_.tensors.size(),
                       on_cpu ? "KERNELS_CPU" : "KERNELS_CUDA", least, most,
                       packed ? std::to_string(*packed) : "kNoTensor",
                       c_string(optional_words(function_.workload)),
                       c_string(shorter_words(function_.workload)), on_cpu ? name("variants") : "nullptr",
                       on_cpu ? "nullptr" : name("variants"), function_.variants.size());
  }

 private:
  std::string name(std::string_view what) const { return fmt::format("{}_{}", what, number_); }
  std::string name(std::string_view what, std::size_t row) const {
    return fmt::format("{}_{}_{}", what, number_, row);
  }
  const FolderKernel& kernel(std::size_t position) const { return library_.kernels[position]; }

  std::string tensors() const {
    const std::vector<LibraryTensor>& tensors = function_.tensors;
    const std::optional<std::size_t> packed = packed_tensor(function_);
    const Source& source = kernel(function_.variants.at(0).members.at(0).kernel).rebuilt.source;
    std::string texts;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::int64_t element = size_of(tensors[i].type);
      const std::int64_t alignment = alignment_of(source.params.at(i), function_.target);
      texts += fmt::format("{}{{\"{}\", \"{}\", {}, {}, {}, {}, {{{}}}, {{{}}}, {}, {}}}",
                           i == 0 ? "" : ",\n    ", tensors[i].name, name_of(tensors[i].type),
                           tensors[i].is_output() ? "KERNELS_OUT" : "KERNELS_IN", i == packed ? 1 : 0,
                           i == packed ? kPackedAlignment : alignment, tensors[i].shape.size(),
                           listed(tensors[i].shape, [](const Dimension& one) { return one.size; }),
                           listed(tensors[i].shape, [](const Dimension& one) { return one.stride; }),
                           tensors[i].elements * element, tensors[i].row_elements * element);
    }
    return array_text("kernels_tensor", name("tensors"), texts);
  }

  std::string test(const std::optional<SelfTest>& test, const std::string& suffix) {
    if (!test) return "nullptr";
    const auto two = [](const auto& each) {
      return fmt::format("{:.17g}, {:.17g}", each.first, each.second);
    };
    std::string next;  // address of the test of the next output
    for (std::size_t i = test->outputs.size(); i-- > 0;) {
      const TestedOutput& output = test->outputs[i];
      const std::string own = i == 0 ? suffix : fmt::format("{}_{}", suffix, i);
      const std::string inputs = i == 0 ? listed(test->inputs, two) : "";
      arrays_ += array_text("Sample", "samples" + own, listed(output.elements, [](const auto& each) {
                              return fmt::format("{{{}, {:.9g}}}", each.first, each.second);
                            }));
      arrays_ += array_text("double", "inputs" + own, inputs);
      arrays_ += fmt::format("const Test test{0} = {{{1}, {2:.17g}, samples{0}, {3}, {4}{5}}};\n", own,
                             test->rows, output.tolerance, output.elements.size(),
                             inputs.empty() ? "nullptr" : "inputs" + own, next);
      next = ", &test" + own;
    }
    return "&test" + suffix;
  }

  bool reads_operand(const RebuiltKernel& rebuilt) const {
    const std::optional<std::size_t> packed = packed_tensor(function_);
    if (!packed) return false;
    const ir::Uses uses = ir::uses_of(rebuilt.kernel, rebuilt.kernel.body);
    return uses.buffers[static_cast<std::size_t>(rebuilt.kernel.params.at(*packed).buffer)];
  }

  std::string kernel_text(const FolderKernel& one, const std::string& suffix) {
    const RebuiltKernel& rebuilt = one.rebuilt;
    const Source& source = rebuilt.source;
    const std::string entry = "kernels_" + one.name;
    const bool packs = source.launch.prepack_work_items > 0;
    const std::int64_t rows = !function_.has_rows()  ? 0
                              : source.most_rows > 0 ? source.most_rows
                                                     : rows_of(rebuilt.workload);
    const std::vector<std::int64_t> workspaces = workspace_bytes(source);
    CHECK(workspaces.size() <= 1, "{} has {} workspaces", one.name, workspaces.size());
    return fmt::format("{{\"{}\", &{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {:.9g}, {}}}", one.name, entry,
                       source.launch.work_items, source.launch.steps(), source.scratch_bytes,
                       workspaces.empty() ? 0 : workspaces[0], packs ? "&" + prepack_entry(entry) : "nullptr",
                       source.launch.prepack_work_items, reads_operand(rebuilt), rows, source.most_rows > 0,
                       std::get<Timing>(rebuilt.winner.record.outcome).max_error, test(one.test, suffix));
  }

  std::string row(std::size_t number) {
    const LibraryVariant& row = function_.variants[number];
    std::vector<std::size_t> positions;  // without repetition
    std::string kernels, members;
    for (const auto& [position, to] : row.members) {
      const auto found = std::ranges::find(positions, position);
      const std::size_t at = static_cast<std::size_t>(found - positions.begin());
      if (found == positions.end()) {
        kernels += fmt::format("{}{}", positions.empty() ? "" : ",\n    ",
                               kernel_text(kernel(position), fmt::format("_{}_{}_{}", number_, number, at)));
        positions.push_back(position);
      }
      members +=
          fmt::format("{}{{&{}[{}], {}}}", members.empty() ? "" : ", ", name("kernel", number), at, to);
    }
    const auto packs = std::ranges::find_if(positions, [&](std::size_t position) {
      return kernel(position).rebuilt.source.launch.prepack_work_items > 0;
    });
    const bool keeps = std::ranges::any_of(
        positions, [&](std::size_t position) { return reads_operand(kernel(position).rebuilt); });
    std::vector<std::int64_t> pieces;
    if (packs != positions.end()) pieces = prepacked_bytes(kernel(*packs).rebuilt.source);
    arrays_ += array_text("Kernel", name("kernel", number), kernels);
    arrays_ += array_text("Member", name("members", number), members);
    arrays_ +=
        array_text("RowTime", name("times", number), listed(row.times, [](const RebuiltSet::Time& time) {
                     return fmt::format("{{{}, {:.9g}}}", time.rows, time.us);
                   }));
    arrays_ += array_text("std::uint64_t", name("pieces", number),
                          listed(pieces, [](std::int64_t bytes) { return bytes; }));
    const std::string pack_text =
        packs == positions.end() ? "nullptr"
                                 : fmt::format("&{}[{}]", name("kernel", number), packs - positions.begin());
    return variant_text(number, pack_text, pieces.size(), keeps);
  }

  std::string variant_text(std::size_t number, const std::string& packs, std::size_t pieces,
                           bool keeps) const {
    const LibraryVariant& row = function_.variants[number];
    const FolderKernel& last = kernel(row.members.back().kernel);
    const StoredDevice& device = *last.rebuilt.winner.device;
    std::uint64_t features = 0;
    for (const RebuiltSet::Member& member : row.members)
      for (const std::string& feature : kernel(member.kernel).features)
        features |= runtime::cpu_feature_named(feature);
    return fmt::format("{{{}, {}, 0x{:x}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}",
                       c_string(last.rebuilt.winner.record.device), c_string(device.limits.arch), features,
                       device.limits.cores, device.cold, name("members", number), row.members.size(),
                       name("times", number), row.times.size(), packs,
                       pieces > 0 ? name("pieces", number) : "nullptr", pieces, keeps);
  }

  std::string map_text(const CudaTensorMapArguments& map) const {
    const auto values = [](const auto& all) { return listed(all, [](auto value) { return value; }); };
    return fmt::format("{{{}, {}, {}, {{{}}}, {{{}}}, {{{}}}, {{{}}}, {}, {}, {{{}}}, {{{}}}, {}}}",
                       map.im2col, map.type, map.rank, values(map.dims), values(map.stride_bytes),
                       values(map.box), values(map.steps), map.channels, map.pixels, values(map.lower),
                       values(map.upper), map.swizzle);
  }

  std::string cuda_variant(std::size_t number) {
    const FolderKernel& one = kernel(function_.variants[number].members.at(0).kernel);
    const Source& source = one.rebuilt.source;
    const StoredDevice& device = *one.rebuilt.winner.device;
    std::string maps, addresses;
    std::size_t count = 0;
    for (const SourceParam& param : source.params) {
      if (param.direction == ir::Direction::kWorkspace) continue;
      addresses += addresses.empty() ? "" : ", ";
      addresses += param.map ? fmt::format("&{}[{}]", name("maps", number), count++) : "nullptr";
      if (param.map)
        maps += fmt::format("{}{}", maps.empty() ? "" : ",\n    ",
                            map_text(arguments_of(*param.map, param.type)));
    }
    arrays_ += array_text("CudaTensorMapArguments", name("maps", number), maps);
    if (!maps.empty())
      arrays_ += array_text("CudaTensorMapArguments* const", name("arguments", number), addresses);
    const std::vector<std::int64_t> workspaces = workspace_bytes(source);
    arrays_ += array_text("std::uint64_t", name("workspaces", number),
                          listed(workspaces, [](std::int64_t bytes) { return bytes; }));
    const std::string& arch = device.limits.arch;
    const std::string digits(arch.begin() + static_cast<std::ptrdiff_t>(arch.find_first_of("0123456789")),
                             arch.begin() + static_cast<std::ptrdiff_t>(arch.find_last_of("0123456789") + 1));
    const ir::Launch& launch = source.launch;
    const auto three = [](const auto& all) { return listed(all, [](auto value) { return value; }); };
    return fmt::format(
        "{{\"{}\", {}, \"{}\", {}, {}, {}, {}, {}, {}, {{{}}}, {{{}}}, {}, {}, {}, {}, {}, {}, {}, {:.9g}, "
        "{:.9g}}}",
        one.name, c_string(one.rebuilt.winner.record.device), arch, digits, !is_digit(arch.back()),
        device.limits.cores, 1000 * one.compiler.major + 10 * one.compiler.minor, image_of(one, false),
        one.ptx.empty() ? "kNoImage" : image_of(one, true), three(launch.grid), three(launch.block),
        launch.cluster, launch.shared_bytes, launch.programmatic,
        maps.empty() ? "nullptr" : name("arguments", number),
        workspaces.empty() ? "nullptr" : name("workspaces", number), workspaces.size(), device.cold,
        one.rebuilt.winner.verdict.best.us, std::get<Timing>(one.rebuilt.winner.record.outcome).max_error);
  }

  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  /// Returns the position of a kernel's image in the list of images. The list has the images of each kernel
  /// name once, the cubin before the PTX.
  std::string image_of(const FolderKernel& wanted, bool ptx) const {
    std::size_t index = 0;
    for (const FolderKernel& one : first_of_each_name(library_.kernels)) {
      if (one.name == wanted.name) return std::to_string(index + (ptx ? 1 : 0));
      index += (one.cubin.empty() ? 0 : 1) + (one.ptx.empty() ? 0 : 1);
    }
    CHECK(false, "{} has no image", wanted.name);
    return "";
  }

  const Library& library_;
  const LibraryFunction& function_;
  std::size_t number_;
  std::string arrays_;
};

std::string entries_text(const Library& library) {
  std::string text;
  for (const FolderKernel& kernel : first_of_each_name(library.kernels)) {
    if (!kernel.rebuilt.source.target.has(Feature::kHostFunction)) continue;
    for (const std::string& name : deployed_functions(kernel.rebuilt.source, "kernels_" + kernel.name))
      text += fmt::format("void {}(void* const* params, void* scratch, long task);\n", name);
  }
  return text;
}

std::string images_text(const Library& library) {
  std::string arrays, images;
  std::size_t count = 0;
  const auto add = [&](const std::string& bytes) {
    if (bytes.empty()) return;
    arrays += fmt::format("const unsigned char image_{}[] = {};\n", count, c_string(bytes));
    images += fmt::format("{}{{image_{}, {}}}", images.empty() ? "" : ", ", count, bytes.size());
    ++count;
  };
  for (const FolderKernel& kernel : first_of_each_name(library.kernels)) {
    add(kernel.cubin);
    add(kernel.ptx);
  }
  return arrays + array_text("Image", "images", images);
}

/// Returns a hash of everything about the kernels.
std::uint64_t content_hash_of(const Library& library) {
  std::uint64_t hash = hash_combine(interface_hash(library), stable_hash(library.options.name));
  for (const FolderKernel& kernel : library.kernels) hash = hash_combine(hash, stable_hash(kernel.name));
  for (const LibraryFunction& function : library.functions)
    for (const LibraryVariant& row : function.variants)
      for (const auto& [kernel, to] : row.members)
        hash = hash_combine(hash_combine(hash, kernel), static_cast<std::uint64_t>(to));
  return hash;
}

std::string body_of(const LibraryFunction& function, std::size_t number) {
  const std::vector<LibraryTensor>& tensors = function.tensors;
  const std::optional<std::size_t> packed = packed_tensor(function);
  std::string arguments;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    arguments +=
        fmt::format("{}pointer({}{})", i == 0 ? "" : ", ", i == packed ? "packed_" : "", tensors[i].name);
  std::string text = fmt::format(
      "{} {{\n  void* const arguments[] = {{{}}};\n  return call(context, functions[{}], arguments, "
      "{});\n}}\n",
      declared(function), arguments, number, function.has_rows() ? "rows" : "0");
  if (!packed) return text;
  return text + fmt::format(
                    "{} {{\n  return kernels_pack_bytes(context, &functions[{}].shown);\n}}\n"
                    "{} {{\n  return kernels_pack(context, &functions[{}].shown, {}, packed);\n}}\n",
                    declared_pack_bytes(function), number, declared_pack(function), number,
                    tensors[*packed].name);
}

}  // namespace

std::string code_text(const Library& library) {
  std::string arrays, entries, bodies;
  bool has_cpu = false, has_images = false;
  for (std::size_t i = 0; i < library.functions.size(); ++i) {
    FunctionText text(library, i);
    arrays += text.arrays();
    entries += text.entry();
    bodies += "\n" + body_of(library.functions[i], i);
    has_cpu = has_cpu || library.functions[i].target.has(Feature::kHostFunction);
    has_images = has_images || !library.functions[i].target.has(Feature::kHostFunction);
  }
  const std::string images = images_text(library);
  return fmt::format(
      "{}\n"
      "// The tables of this library, and its functions.\n"
      "extern \"C\" {{\n{}}}\n\n"
      "namespace lehr::runtime {{\nnamespace {{\n\n{}{}"
      "const Function functions[] = {{\n{}}};\n"
      "const Table table = {{0x{}, 0x{}, \"{}\", functions, {}, {}, {}}};\n\n"
      "}}  // namespace\n\n"
      "const Table& library_table() {{\n  return table;\n}}\n\n"
      "}}  // namespace lehr::runtime\n{}",
      shipped_text("sources/kernels.cpp"), entries_text(library), images, arrays, entries,
      to_hex(interface_hash(library)), to_hex(content_hash_of(library)),
      has_cpu ? runtime::cpu_machine() : "", library.functions.size(), has_images ? "images" : "nullptr",
      has_images ? "sizeof images / sizeof *images" : "0", bodies);
}

std::string with_name(std::string_view text, const std::string& name) {
  std::string capital = name;
  for (char& c : capital)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  const std::pair<std::string_view, std::string> words[] = {
      {"kernels_", name + "_"},        {"KERNELS_", capital + "_"}, {"lehr::", name + "_library::"},
      {"lehr {", name + "_library {"}, {"kernels.h", name + ".h"},  {"--name kernels", "--name " + name}};
  const auto is_inner = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  };
  std::string result;
  result.reserve(text.size() + text.size() / 8);
  for (std::size_t at = 0; at < text.size();) {
    const bool begins = at == 0 || !is_inner(text[at - 1]);
    const auto* found = std::ranges::find_if(
        words, [&](const auto& word) { return begins && text.substr(at).starts_with(word.first); });
    if (found == std::end(words)) {
      result += text[at++];
      continue;
    }
    result += found->second;
    at += found->first.size();
  }
  return result;
}

std::vector<std::string> public_names(const Library& library) {
  constexpr std::string_view kMark = "\nKERNELS_API ";
  const std::string header = header_text(library);
  std::vector<std::string> names;
  for (std::size_t at = header.find(kMark); at != std::string::npos; at = header.find(kMark, at + 1)) {
    const std::size_t end = header.find('(', at), begin = header.find_last_of(" *", end) + 1;
    names.push_back(with_name(header.substr(begin, end - begin), library.options.name));
  }
  return names;
}

}  // namespace lehr
