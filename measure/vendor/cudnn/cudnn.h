// cuDNN's graph API as RAII values over status codes. The library is loaded at run time and never linked; its
// functions are declared here by hand.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace lehr::cudnn {

/// What a library call answered: cudnnStatus_t (cudnn_graph.h of cuDNN 9).
struct [[nodiscard]] DnnStatus {
  int code = 0;
  const char* call = "";  ///< the function that answered
  bool ok() const { return code == 0; }
};

class DnnDescriptor;

/// The loaded library. Must outlive everything that is made with it.
class Cudnn {
 public:
  struct Functions;

  /// The first of `paths` that the loader finds; nullptr with a reason in `why_not` when there is none, it is
  /// older than version 9, or it lacks a function.
  static std::unique_ptr<Cudnn> open(std::span<const std::string> paths, std::string& why_not);
  ~Cudnn();
  Cudnn(const Cudnn&) = delete;
  Cudnn& operator=(const Cudnn&) = delete;

  /// Makes the library's handle on the current device; its work goes to `stream` (a CUstream).
  DnnStatus start(void* stream);
  /// Instead of start(): plans are built for a device that is not there, and cannot be run. `properties` is
  /// the library's JSON of a device (cuDNN 9.8 and newer).
  DnnStatus start_without_device(const std::string& properties);

  const std::string& path() const { return path_; }
  std::string version() const;  ///< "9.19.0"
  /// "CUDNN_STATUS_NOT_SUPPORTED from cudnnBackendFinalize (why, in the library's words)"; of the last call.
  std::string text_of(DnnStatus status) const;

  const Functions& functions() const { return *functions_; }
  void* handle() const { return handle_; }  ///< nullptr before start()
  const DnnDescriptor& properties() const;  ///< of start_without_device()

 private:
  Cudnn();
  std::string path_;
  std::unique_ptr<Functions> functions_;
  void* handle_ = nullptr;
  std::unique_ptr<DnnDescriptor> properties_;
};

/// Where the library is looked for: where the loader looks, in `folders` (cuda_library_folders(); workers are
/// given them as LD_LIBRARY_PATH), in a CUDA toolkit's usual folders. Its parts lie beside it.
std::vector<std::string> cudnn_paths(std::span<const std::string> folders = {});

/// A backend descriptor: attributes are set, then it is finalized and can be used.
class DnnDescriptor {
 public:
  DnnDescriptor() = default;
  DnnDescriptor(DnnDescriptor&& other) noexcept { swap(other); }
  DnnDescriptor& operator=(DnnDescriptor&& other) noexcept {
    swap(other);
    return *this;
  }
  ~DnnDescriptor();

  /// `kind` is a cudnnBackendDescriptorType_t.
  DnnStatus create(const Cudnn& library, int kind);
  /// `attribute` is a cudnnBackendAttributeName_t, `type` a cudnnBackendAttributeType_t, whose C type is that
  /// of the elements.
  DnnStatus set(int attribute, int type, std::int64_t count, const void* elements);
  DnnStatus finalize();
  /// Up to `room` elements; `count` of them were there.
  DnnStatus get(int attribute, int type, std::int64_t room, std::int64_t& count, void* elements) const;
  void* handle() const { return handle_; }

 private:
  void swap(DnnDescriptor& other) {
    std::swap(library_, other.library_);
    std::swap(handle_, other.handle_);
  }
  const Cudnn* library_ = nullptr;
  void* handle_ = nullptr;
};

/// cudnnBackendExecute: puts the plan's kernels on the handle's stream.
DnnStatus execute(const Cudnn& library, const DnnDescriptor& plan, const DnnDescriptor& variant_pack);

}  // namespace lehr::cudnn
