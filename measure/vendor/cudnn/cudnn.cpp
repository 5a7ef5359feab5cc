// The only file that knows cuDNN's functions. They are declared by hand, as its documentation describes them
// ("cuDNN Backend API", version 9).
#include "measure/vendor/cudnn/cudnn.h"

#include <fmt/core.h>

#include <string_view>

#include "base/error.h"
#include "measure/system/shared_library.h"

namespace lehr::cudnn {

using Code = int;

struct Cudnn::Functions : LibraryFunctions {
  Function<Code(void**)> create{this, "cudnnCreate"};
  Function<Code(void*)> destroy{this, "cudnnDestroy"};
  Function<Code(void*, void*)> set_stream{this, "cudnnSetStream"};
  Function<std::size_t()> version{this, "cudnnGetVersion"};
  Function<const char*(Code)> error_string{this, "cudnnGetErrorString"};
  Function<void(char*, std::size_t)> last_error{this, "cudnnGetLastErrorString"};
  Function<Code(int, void**)> descriptor_create{this, "cudnnBackendCreateDescriptor"};
  Function<Code(void*)> descriptor_destroy{this, "cudnnBackendDestroyDescriptor"};
  Function<Code(void*, int, int, std::int64_t, const void*)> descriptor_set{this, "cudnnBackendSetAttribute"};
  Function<Code(void*, int, int, std::int64_t, std::int64_t*, void*)> descriptor_get{
      this, "cudnnBackendGetAttribute"};
  Function<Code(void*)> descriptor_finalize{this, "cudnnBackendFinalize"};
  Function<Code(void*, void*, void*)> execute{this, "cudnnBackendExecute"};
};

namespace {

constexpr std::size_t kOldestVersion = 90000;

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
  const std::string_view missing = library->functions_->find(loaded.handle);
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

DnnStatus DnnDescriptor::create(const Cudnn& library, int kind) {
  *this = DnnDescriptor();
  library_ = &library;
  void* made = nullptr;
  const DnnStatus status{library.functions().descriptor_create(kind, &made), "cudnnBackendCreateDescriptor"};
  if (status.ok()) handle_ = LibraryHandle(made, {library.functions().descriptor_destroy});
  return status;
}

DnnStatus DnnDescriptor::set(int attribute, int type, std::int64_t count, const void* elements) {
  return {library_->functions().descriptor_set(handle_.get(), attribute, type, count, elements),
          "cudnnBackendSetAttribute"};
}

DnnStatus DnnDescriptor::finalize() {
  return {library_->functions().descriptor_finalize(handle_.get()), "cudnnBackendFinalize"};
}

DnnStatus DnnDescriptor::get(int attribute, int type, std::int64_t room, std::int64_t& count,
                             void* elements) const {
  return {library_->functions().descriptor_get(handle_.get(), attribute, type, room, &count, elements),
          "cudnnBackendGetAttribute"};
}

DnnStatus execute(const Cudnn& library, const DnnDescriptor& plan, const DnnDescriptor& variant_pack) {
  return {library.functions().execute(library.handle(), plan.handle(), variant_pack.handle()),
          "cudnnBackendExecute"};
}

}  // namespace lehr::cudnn
