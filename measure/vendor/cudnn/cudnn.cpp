// The only file that knows cuDNN's functions, written out here from its documentation ("cuDNN Backend API",
// version 9).
#include "measure/vendor/cudnn/cudnn.h"

#include <fmt/core.h>

#include <string_view>

#include "base/error.h"
#include "measure/system/shared_library.h"

namespace lehr::cudnn {

using Code = int;

struct Cudnn::Functions {
  Code (*create)(void**) = nullptr;
  Code (*destroy)(void*) = nullptr;
  Code (*set_stream)(void*, void*) = nullptr;
  std::size_t (*version)() = nullptr;
  const char* (*error_string)(Code) = nullptr;
  void (*last_error)(char*, std::size_t) = nullptr;
  Code (*descriptor_create)(int, void**) = nullptr;
  Code (*descriptor_destroy)(void*) = nullptr;
  Code (*descriptor_set)(void*, int, int, std::int64_t, const void*) = nullptr;
  Code (*descriptor_get)(void*, int, int, std::int64_t, std::int64_t*, void*) = nullptr;
  Code (*descriptor_finalize)(void*) = nullptr;
  Code (*execute)(void*, void*, void*) = nullptr;
};

namespace {

constexpr std::size_t kOldestVersion = 90000;

std::string_view find_all(void* library, Cudnn::Functions& f) {
  FunctionFinder find(library);
  find("cudnnCreate", f.create);
  find("cudnnDestroy", f.destroy);
  find("cudnnSetStream", f.set_stream);
  find("cudnnGetVersion", f.version);
  find("cudnnGetErrorString", f.error_string);
  find("cudnnGetLastErrorString", f.last_error);
  find("cudnnBackendCreateDescriptor", f.descriptor_create);
  find("cudnnBackendDestroyDescriptor", f.descriptor_destroy);
  find("cudnnBackendSetAttribute", f.descriptor_set);
  find("cudnnBackendGetAttribute", f.descriptor_get);
  find("cudnnBackendFinalize", f.descriptor_finalize);
  find("cudnnBackendExecute", f.execute);
  return find.missing();
}

}  // namespace

Cudnn::Cudnn() = default;

Cudnn::~Cudnn() {
  properties_.reset();
  if (handle_) functions_->destroy(handle_);
}

std::unique_ptr<Cudnn> Cudnn::open(std::span<const std::string> paths, std::string& why_not) {
  std::unique_ptr<Cudnn> library(new Cudnn());
  const SharedLibrary loaded = load_library(paths);  // never closed: its kernels may outlive this value
  library->path_ = loaded.path;
  if (!loaded) {
    why_not =
        "libcudnn.so.9 was not found: install cuDNN (Debian and Ubuntu: libcudnn9-cuda-13, pip: "
        "nvidia-cudnn-cu13) and name its directory in LD_LIBRARY_PATH to compare convolutions with it";
    return nullptr;
  }
  library->functions_ = std::make_unique<Functions>();
  const std::string_view missing = find_all(loaded.handle, *library->functions_);
  if (!missing.empty() || library->functions_->version() < kOldestVersion) {
    why_not = fmt::format("{} is older than cuDNN 9{}{}", library->path_,
                          missing.empty() ? "" : ": it has no function ", missing);
    return nullptr;
  }
  return library;
}

DnnStatus Cudnn::start(void* stream) {
  if (const Code code = functions_->create(&handle_); code != 0) return {code, "cudnnCreate"};
  return {functions_->set_stream(handle_, stream), "cudnnSetStream"};
}

DnnStatus Cudnn::start_without_device(const std::string& properties) {
  constexpr int kDeviceProperties = 38;  // CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR
  constexpr int kJson = 2702;            // CUDNN_ATTR_DEVICEPROP_JSON_REPRESENTATION
  constexpr int kChar = 24;              // CUDNN_TYPE_CHAR
  properties_ = std::make_unique<DnnDescriptor>();
  DnnStatus status = properties_->create(*this, kDeviceProperties);
  const auto bytes = static_cast<std::int64_t>(properties.size() + 1);
  if (status.ok()) status = properties_->set(kJson, kChar, bytes, properties.c_str());
  return status.ok() ? properties_->finalize() : status;
}

const DnnDescriptor& Cudnn::properties() const {
  CHECK(properties_ != nullptr);
  return *properties_;
}

std::string Cudnn::version() const {
  const std::size_t version = functions_->version();  // 9.19.0 is 91900
  return fmt::format("{}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

std::string Cudnn::text_of(DnnStatus status) const {
  char why[512] = {};
  functions_->last_error(why, sizeof why);
  return fmt::format("{} from {}{}{}{}", functions_->error_string(status.code), status.call,
                     why[0] != 0 ? " (" : "", why, why[0] != 0 ? ")" : "");
}

std::vector<std::string> cudnn_paths(std::span<const std::string> folders) {
  std::vector<std::string> paths = {"libcudnn.so.9"};
  for (const std::string& folder : folders) paths.push_back(folder + "/libcudnn.so.9");
  for (const char* folder : {"/usr/local/cuda/lib64", "/usr/local/cuda/lib",
                             "/usr/local/cuda/targets/x86_64-linux/lib", "/usr/lib/x86_64-linux-gnu"})
    paths.push_back(fmt::format("{}/libcudnn.so.9", folder));
  return paths;
}

DnnDescriptor::~DnnDescriptor() {
  if (handle_) library_->functions().descriptor_destroy(handle_);
}

DnnStatus DnnDescriptor::create(const Cudnn& library, int kind) {
  *this = DnnDescriptor();
  library_ = &library;
  return {library.functions().descriptor_create(kind, &handle_), "cudnnBackendCreateDescriptor"};
}

DnnStatus DnnDescriptor::set(int attribute, int type, std::int64_t count, const void* elements) {
  return {library_->functions().descriptor_set(handle_, attribute, type, count, elements),
          "cudnnBackendSetAttribute"};
}

DnnStatus DnnDescriptor::finalize() {
  return {library_->functions().descriptor_finalize(handle_), "cudnnBackendFinalize"};
}

DnnStatus DnnDescriptor::get(int attribute, int type, std::int64_t room, std::int64_t& count,
                             void* elements) const {
  return {library_->functions().descriptor_get(handle_, attribute, type, room, &count, elements),
          "cudnnBackendGetAttribute"};
}

DnnStatus execute(const Cudnn& library, const DnnDescriptor& plan, const DnnDescriptor& variant_pack) {
  return {library.functions().execute(library.handle(), plan.handle(), variant_pack.handle()),
          "cudnnBackendExecute"};
}

}  // namespace lehr::cudnn
