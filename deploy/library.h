// The winners as one library: a shared and a static form of the same object, a header with a function for
// each workload, the sources of it all (docs/deploy.md).
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
  std::string name = "kernels";  ///< what every public name begins with: is_library_name()
  std::string tool_version;
  /// "OLD=NEW" with commas between several: functions, without the library's name, by other names.
  std::string renamed = {};
};

/// Kernels that answer together for one function, on one kind of processor or GPU with one number of threads.
struct LibraryRow {
  /// Positions among all kernels, and the most rows that each serves; one with 0 where their number is fixed.
  std::vector<RebuiltSet::Member> members;
  std::vector<RebuiltSet::Time> times;  ///< one with 0 rows where their number is fixed
};

/// An argument of a function.
struct LibraryTensor : TensorSpec {
  std::vector<Dimension> shape;
  std::int64_t row_elements = 0;  ///< of a row, if it has as many rows as a call says
};

/// One public function.
struct LibraryFunction {
  Workload workload;
  std::string text;  ///< canonical
  Target target;
  std::string name;  ///< without the library's own
  std::vector<LibraryTensor> tensors;
  std::vector<LibraryRow> rows;

  /// Whether calls say how many rows there are.
  bool has_rows() const;
};

/// The parts of a library.
struct Library {
  LibraryOptions options;
  std::vector<FolderKernel> kernels;  ///< prepared()
  std::vector<LibraryFunction> functions;
};

/// Whether a name can be that of a library, its header and its module: a small letter, then small letters,
/// digits and '_', not at the end, at most 40, and no name that C or Python has for something of theirs.
bool is_library_name(const std::string& name);

/// A library of these kernels with a function for each target and text, that of a set or of a kernel with a
/// fixed number of rows. Throws Error(kUser) where two would have one name, and where a function to be
/// renamed is not there or its new name is not valid.
Library library_of(std::vector<FolderKernel> kernels, std::span<const RebuiltSet> sets,
                   const LibraryOptions& options);

/// Returns which tensor calls take packed, the one that stays as it is, on a processor; nullopt: none.
std::optional<std::size_t> packed_tensor(const LibraryFunction& function);

/// Text that is written for a library of the name "kernels", with the library's own in its place.
std::string with_name(std::string_view text, const std::string& name);
/// NAME.h, and sources/NAME.cpp without the header: the runtime, the tables, the functions. Both are for the
/// name "kernels" (with_name()).
std::string header_text(const Library& library);
std::string code_text(const Library& library);
/// The names that the library shows.
std::vector<std::string> public_names(const Library& library);

/// All files of the folder: compiles the kernels, each once, as it was measured, and links them. The same
/// kernels and compilers give the same bytes. Throws Error(kEnvironment) where a compiler or the binutils
/// fail.
std::vector<FolderFile> library_files(const Library& library, FolderCompilers& compilers);
/// The shared library alone.
std::vector<FolderFile> shared_library_file(const Library& library, FolderCompilers& compilers);

}  // namespace lehr
