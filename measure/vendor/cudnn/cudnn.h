// cuDNN's graph API wrapped in RAII values and status codes. The library is loaded at run time and never
// linked. Its functions are declared here by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "measure/system/shared_library.h"

namespace lehr::cudnn {

/// The result of a library call: cudnnStatus_t (cudnn_graph.h of cuDNN 9).
struct [[nodiscard]] DnnStatus {
  int code = 0;
  const char* call = "";  ///< the function that returned it
  bool ok() const { return code == 0; }
};

class DnnDescriptor;

/// The loaded library. It must outlive everything that is made with it.
class Cudnn {
 public:
  struct Functions;

  /// Opens the first of `paths` that the loader finds. Returns nullptr and sets `why_not` to the reason if it
  /// finds none, or if the library is older than version 9 or lacks a function.
  static std::unique_ptr<Cudnn> open(std::span<const std::string> paths, std::string& why_not);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  /// Makes the library's handle on the current device. The handle's work goes to `stream` (a CUstream).
  DnnStatus start(void* stream);
  /// Replaces start() if the device is missing. Plans can then be built for it, but not run. `properties` is
  /// the library's JSON description of a device (cuDNN 9.8 and newer).
  DnnStatus start_without_device(const std::string& properties);

  const std::string& path() const { return path_; }
  std::string version() const;  ///< "9.19.0"
  /// Returns the text of the last call's status: "CUDNN_STATUS_NOT_SUPPORTED from cudnnBackendFinalize (why,
  /// in the library's words)".
  std::string text_of(DnnStatus status) const;

  const Functions& functions() const { return *functions_; }
  void* handle() const { return handle_; }  ///< nullptr before start()
  const DnnDescriptor& properties() const;  ///< set by start_without_device()

 private:
  Cudnn();
  std::string path_;
  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
  std::unique_ptr<DnnDescriptor> properties_;
};

/// Returns the paths where the library is looked for: where the loader looks, in `folders`
/// (cuda_library_folders(); workers get them as LD_LIBRARY_PATH), and in the usual folders of a CUDA toolkit.
/// The library's other files lie next to it.
std::vector<std::string> cudnn_paths(std::span<const std::string> folders = {});

/// A backend descriptor. After its attributes are set, it is finalized and can be used.
class DnnDescriptor {
 public:
  /// `kind` is a cudnnBackendDescriptorType_t.
  DnnStatus create(const Cudnn& library, int kind);
  /// `attribute` is a cudnnBackendAttributeName_t. `type` is a cudnnBackendAttributeType_t; the elements have
  /// its C type.
  DnnStatus set(int attribute, int type, std::int64_t count, const void* elements);
  DnnStatus finalize();
  /// Reads up to `room` elements. `count` is set to the number of elements that the attribute has.
  DnnStatus get(int attribute, int type, std::int64_t room, std::int64_t& count, void* elements) const;
  void* handle() const { return handle_.get(); }

 private:
  const Cudnn* library_ = nullptr;
  LibraryHandle handle_;
};

/// Calls cudnnBackendExecute: puts the plan's kernels on the handle's stream.
DnnStatus execute(const Cudnn& library, const DnnDescriptor& plan, const DnnDescriptor& variant_pack);

}  // namespace lehr::cudnn
