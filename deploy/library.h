// Makes one library from the winners: a shared and a static library with the same object, a header with a
// function for each workload, and all sources (docs/deploy.md).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "deploy/folder_compilers.h"
#include "deploy/folder_files.h"
#include "deploy/folder_kernel.h"
#include "deploy/rebuild.h"

namespace lehr {

struct LibraryOptions {
  std::string name = "kernels";  ///< prefix of all public names; is_library_name() must accept it
  std::string tool_version;
  /// "OLD=NEW" with commas between several: new names of functions, without the library's name.
  std::string renamed = {};
};

/// Kernels that together serve one function on one kind of processor, with one number of threads, or on one
/// kind of GPU.
struct LibraryVariant {
  /// Positions of the kernels in Library::kernels, with the most rows that each serves. A function with a
  /// fixed number of rows has one member, with 0 rows.
  std::vector<RebuiltSet::Member> members;
  std::vector<RebuiltSet::Time> times;  ///< one element with 0 rows if the number of rows is fixed
};

/// An argument of a function.
struct LibraryTensor : TensorSpec {
  std::vector<Dimension> shape;
  std::int64_t row_elements = 0;  ///< number of elements of a row, if calls give the number of rows; else 0
};

/// One public function.
struct LibraryFunction {
  Workload workload;
  std::string text;  ///< canonical
  Target target;
  std::string name;  ///< without the library's prefix
  std::vector<LibraryTensor> tensors;
  std::vector<LibraryVariant> variants;

  /// Whether calls give the number of rows.
  bool has_rows() const;
};

/// The parts of a library.
struct Library {
  LibraryOptions options;
  std::vector<FolderKernel> kernels;  ///< prepared()
  std::vector<LibraryFunction> functions;
};

/// Whether a name is valid for a library, its header and its module: a small letter, then small letters,
/// digits and '_' (not at the end), at most 40 characters, and not a name that C or Python uses itself.
bool is_library_name(const std::string& name);

/// Returns a library of these kernels. It has a function for each target and workload of a set, and of a
/// kernel with a fixed number of rows. Throws Error(kUser) if two functions would have the same name, if a
/// function to be renamed does not exist, or if its new name is not valid.
Library library_of(std::vector<FolderKernel> kernels, std::span<const RebuiltSet> sets,
                   const LibraryOptions& options);

/// Returns the position of the constant tensor that calls on a processor take in packed form; nullopt if
/// there is no such tensor.
std::optional<std::size_t> packed_tensor(const LibraryFunction& function);

/// Returns a text in which the library's own name replaces the name "kernels".
std::string with_name(std::string_view text, const std::string& name);
/// Return the texts of NAME.h, and of sources/NAME.cpp without the header: the runtime, the tables, the
/// functions. Both use the name "kernels", which with_name() replaces.
std::string header_text(const Library& library);
std::string code_text(const Library& library);
/// Returns the names that the library exports.
std::vector<std::string> public_names(const Library& library);

/// Compiles each kernel once, as it was measured, links the library, and returns all files of the folder. The
/// same kernels and compilers give the same bytes. Throws Error(kEnvironment) if a compiler or the binutils
/// fail.
std::vector<FolderFile> library_files(const Library& library, FolderCompilers& compilers);
/// Returns only the shared library, without the other files.
std::vector<FolderFile> shared_library_file(const Library& library, FolderCompilers& compilers);

}  // namespace lehr
