// Writes the header of a library: the part that all libraries have, and a function for each workload.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <map>

#include "base/error.h"
#include "base/hash.h"
#include "deploy/library.h"
#include "deploy/library_names.h"
#include "deploy/shipped.h"

namespace lehr {
namespace {

std::string_view c_type(DType type) {
  switch (type) {
    case DType::kF64:
      return "double";
    case DType::kF32:
      return "float";
    case DType::kF16:
    case DType::kBF16:
      return "uint16_t";
    case DType::kS32:
      return "int32_t";
    case DType::kS16:
      return "int16_t";
    case DType::kS8:
    case DType::kS7:
      return "int8_t";
    case DType::kU32:
      return "uint32_t";
    default:
      CHECK(size_of(type) == 1, "{} has no type in C", name_of(type));
      return "uint8_t";
  }
}

std::string shape_text(const std::vector<Dimension>& shape) {
  std::string text;
  for (const Dimension& one : shape) text += fmt::format("{}{}", text.empty() ? "" : " x ", one.size);
  bool dense = true;
  std::int64_t stride = 1;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i].size)
    dense = dense && (shape[i].size == 1 || shape[i].stride == stride);
  return dense ? text : text + " by columns";
}

/// Returns lines that begin with "///": the workload, and a description of each argument.
std::string comment_of(const LibraryFunction& function) {
  const std::vector<LibraryTensor>& tensors = function.tensors;
  const std::optional<std::size_t> packed = packed_tensor(function);
  std::string text = fmt::format("/// {}\n///", function.text);
  for (std::size_t i = 0; i < tensors.size(); ++i)
    text += fmt::format("{} {}: {} {}{}", i == 0 ? "" : ",", tensors[i].name, name_of(tensors[i].type),
                        shape_text(tensors[i].shape), i == packed ? ", packed" : "");
  if (function.has_rows()) text += fmt::format("; `rows` of them");
  return text + (function.target.has(Feature::kHostFunction) ? "\n" : "; on the GPU\n");
}

}  // namespace

std::string declared(const LibraryFunction& function) {
  const std::vector<LibraryTensor>& tensors = function.tensors;
  const std::optional<std::size_t> packed = packed_tensor(function);
  std::string text = fmt::format("kernels_status kernels_{}(kernels_context* context", function.name);
  if (function.has_rows()) text += ", uint64_t rows";
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    if (i == packed)
      text += fmt::format(", const void* packed_{}", tensors[i].name);
    else
      text += fmt::format(", {}{}* {}", tensors[i].is_output() ? "" : "const ", c_type(tensors[i].type),
                          tensors[i].name);
  }
  return text + ")";
}

std::string declared_pack(const LibraryFunction& function) {
  const LibraryTensor& tensor = function.tensors.at(packed_tensor(function).value());
  return fmt::format("kernels_status kernels_{}_pack(kernels_context* context, const {}* {}, void* packed)",
                     function.name, c_type(tensor.type), tensor.name);
}

std::string declared_pack_bytes(const LibraryFunction& function) {
  return fmt::format("uint64_t kernels_{}_pack_bytes(kernels_context* context)", function.name);
}

std::uint64_t interface_hash(const Library& library) {
  std::uint64_t hash = stable_hash(shipped_text("kernels.h"));
  for (const LibraryFunction& function : library.functions)
    hash = hash_combine(hash, stable_hash(declared(function) + function.text));
  return hash;
}

std::string header_text(const Library& library) {
  std::string functions;
  for (const LibraryFunction& function : library.functions) {
    functions += fmt::format("\n{}KERNELS_API {};\n", comment_of(function), declared(function));
    if (packed_tensor(function))
      functions += fmt::format("KERNELS_API {};\nKERNELS_API {};\n", declared_pack_bytes(function),
                               declared_pack(function));
  }
  return fmt::format(
      "{}\n"
      "// What lehr {} has exported. Functions answer as kernels_call(); arguments are dense, outputs\n"
      "// overlap nothing. A packed operand is made once by ..._pack, in ..._pack_bytes of memory that is\n"
      "// aligned to 64 bytes. bf16 and f16 are uint16_t.\n"
      "#define KERNELS_INTERFACE UINT64_C(0x{})\n\n"
      "#ifdef __cplusplus\nextern \"C\" {{\n#endif\n"
      "{}\n"
      "/// Makes a context; NULL with one sentence in `message`, which may be NULL (kernels_create_for()).\n"
      "static inline kernels_context* kernels_create_with(const kernels_options* options, char* message,\n"
      "                                                   size_t message_bytes) {{\n"
      "  return kernels_create_for(KERNELS_INTERFACE, options, message, message_bytes);\n"
      "}}\n"
      "/// The same with a pool of so many threads.\n"
      "static inline kernels_context* kernels_create(uint32_t threads) {{\n"
      "  const kernels_options options = {{threads, 0, 0, 0, NULL, NULL, NULL}};\n"
      "  return kernels_create_with(&options, NULL, 0);\n"
      "}}\n"
      "/// The same for the GPU whose context of CUDA is current, else for this device.\n"
      "static inline kernels_context* kernels_create_cuda(int32_t device) {{\n"
      "  const kernels_options options = {{1, 1, device, 0, NULL, NULL, NULL}};\n"
      "  return kernels_create_with(&options, NULL, 0);\n"
      "}}\n\n"
      "#ifdef __cplusplus\n}}\n#endif\n",
      shipped_text("kernels.h"), library.options.tool_version, to_hex(interface_hash(library)), functions);
}

}  // namespace lehr
