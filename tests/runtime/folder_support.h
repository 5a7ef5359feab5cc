// Bundles made by hand: kernels of three lines, compiled when a test asks for them.
#pragma once

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace lehr::testing {

/// A folder that lehr_open() takes.
class BundleFolder {
 public:
  BundleFolder();
  ~BundleFolder();
  BundleFolder(const BundleFolder&) = delete;
  BundleFolder& operator=(const BundleFolder&) = delete;
  const std::string& path() const { return path_; }

  /// Compiles C++ to kernels/NAME.so.
  void add_library(const std::string& name, const std::string& text);
  void write_file(const std::string& name, const std::string& bytes);
  std::string read_file(const std::string& name) const;
  nlohmann::json manifest;
  /// Sets manifest["files"] to the hashes of all that there is below kernels/, and writes it.
  void seal();
  /// Writes manifest.json as it is, with a hash of itself.
  void write_manifest();

 private:
  std::string directory_;
  std::string path_;
};

/// C (m x 4) = A (m x 4) times the diagonal 2 W (4), plus the row's number in units of `offset`: one task a
/// row, W doubled and prepacked. A kernel for `rows` rows, as the manifest has it.
nlohmann::json scale_kernel(int rows, double time_us, int threads = 1, bool bucket = false);
/// The text of such kernels, for add_library("scale_ROWS", ...).
std::string scale_text(int rows);
/// A bundle of kernels for these numbers of rows, which take as many microseconds as `time_us` says.
void add_scale(BundleFolder& folder, int rows, double time_us, int threads = 1, bool bucket = false);

/// The same of a kernel for 1 to `most` rows, which is told how many there are, and which writes nothing
/// behind them. `plain`: it reads W as it lies, and prepacks nothing.
void add_told_scale(BundleFolder& folder, int most, double time_us, bool plain = false);
/// A set of such kernels, and of fixed ones: `members` are numbers of kernels and the most rows that each
/// serves. The bundle is of version 2 then.
void add_scale_set(BundleFolder& folder, int least, std::initializer_list<std::pair<int, int>> members,
                   std::initializer_list<std::pair<int, double>> times, int threads = 1);

/// Changes a file of a sealed folder at random, so many times: none of what becomes of it opens. The folder
/// is as before then.
void expect_no_corruption_loads(BundleFolder& folder, int times);
/// C = A B of `rows` x 4 by 4 x 8 for CUDA, as the stand-in for the driver computes it for a kernel of that
/// name.
nlohmann::json product_kernel(int rows, double time_us, bool bucket = false);
/// Puts it into a bundle, with what the stand-in takes for machine code.
void add_product(BundleFolder& folder, const nlohmann::json& kernel, const std::string& image = "FAKE CUBIN");

}  // namespace lehr::testing
