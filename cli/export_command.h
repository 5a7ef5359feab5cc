// `lehr export`: winners as a folder that a product uses.
#pragma once

#include <string>
#include <vector>

#include "cli/environment.h"
#include "cli/filter_flags.h"
#include "deploy/export_folder.h"
#include "deploy/rebuild.h"

namespace CLI {
class App;
}

namespace lehr {

class ExportCommand {
 public:
  ExportCommand(CLI::App& root, const Environment& environment);
  /// The exit code.
  int run();

 private:
  /// The winners of the filters and, where it is given, of --isa. Throws Error(kNotFound) where there is
  /// none.
  std::vector<Winner> chosen_winners() const;
  /// Measures again what can be; says what came of it. False: it was interrupted.
  bool remeasure_all(const std::vector<Winner>& found, const std::vector<Skipped>& skipped) const;
  /// Of `kernels` those that a folder made here can hold; a sentence for each that cannot be compiled here
  /// goes to `skipped`.
  static void keep_those_of_here(std::vector<RebuiltKernel>& kernels, FolderCompilers& compilers,
                                 const FolderOptions& options, std::vector<std::string>& skipped);
  std::vector<std::string> gpu_libraries() const;
  FolderOptions folder_options() const;

  const Environment& environment_;
  FilterFlags filter_;
  std::string database_, out_, buckets_, isa_;
  bool json_ = false, remeasure_ = false, embed_ = false;
};

}  // namespace lehr
