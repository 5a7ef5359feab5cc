#include "measure/vendor/onnxruntime/loaded_network.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <utility>

#include "base/error.h"
#include "measure/system/shared_library.h"

namespace lehr::onnxruntime {
namespace {

/// Throws the engine's message if `status` is an error.
void expect(const OrtApi* api, OrtStatus* status) {
  if (status == nullptr) return;
  const std::string text = ort::GetErrorMessage(api, status);
  ort::ReleaseStatus(api, status);
  throw_user("ONNX Runtime: {}", text);
}

/// Owns an object that one function of the API makes and another one releases.
template <typename T, auto kRelease>
class Owned {
 public:
  explicit Owned(const OrtApi* api) : api_(api) {}
  Owned(Owned&& other) noexcept : api_(other.api_), value_(std::exchange(other.value_, nullptr)) {}
  ~Owned() { reset(); }
  T* get() const { return value_; }
  T** fresh() {
    reset();
    return &value_;
  }
  void reset() {
    if (value_ != nullptr) kRelease(api_, value_);
    value_ = nullptr;
  }

 private:
  const OrtApi* api_;
  T* value_ = nullptr;
};
using OwnedValue = Owned<OrtValue, ort::ReleaseValue>;
using OwnedOptions = Owned<OrtSessionOptions, ort::ReleaseSessionOptions>;

std::vector<std::int64_t> shape_of(const OrtApi* api, const OrtTensorTypeAndShapeInfo* info) {
  std::size_t rank = 0;
  expect(api, ort::GetDimensionsCount(api, info, &rank));
  std::vector<std::int64_t> shape(rank);
  expect(api, ort::GetDimensions(api, info, shape.data(), rank));
  return shape;
}

std::size_t element_count(const std::vector<std::int64_t>& shape) {
  std::size_t count = 1;
  for (const std::int64_t dim : shape) count *= static_cast<std::size_t>(dim);
  return count;
}

std::string texts_of(const OrtApi* api, const OrtValue* value, std::size_t count) {
  std::size_t length = 0;
  expect(api, ort::GetStringTensorDataLength(api, value, &length));
  std::string all(length, '\0');
  std::vector<std::size_t> begins(count);
  expect(api, ort::GetStringTensorContent(api, value, all.data(), length, begins.data(), count));
  std::string bytes;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t end = i + 1 < count ? begins[i + 1] : length;
    const std::uint64_t size = end - begins[i];
    bytes.append(reinterpret_cast<const char*>(&size), sizeof size).append(all, begins[i], size);
  }
  return bytes;
}

// Returns a value's elements. The type is kUndefined if the value is not a tensor, or if the size of its
// elements is not known.
Data data_of(const OrtApi* api, OrtValue* value) {
  Data data;
  data.type = OrtElementType::kUndefined;
  int is_tensor = 0;
  if (value != nullptr) expect(api, ort::IsTensor(api, value, &is_tensor));
  if (is_tensor == 0) return data;
  Owned<OrtTensorTypeAndShapeInfo, ort::ReleaseTensorTypeAndShapeInfo> info(api);
  expect(api, ort::GetTensorTypeAndShape(api, value, info.fresh()));
  OrtElementType type = OrtElementType::kUndefined;
  expect(api, ort::GetTensorElementType(api, info.get(), &type));
  data.shape = shape_of(api, info.get());
  const std::size_t count = element_count(data.shape), size = bytes_of(type);
  if (type == OrtElementType::kString) {
    data.bytes = texts_of(api, value, count);
  } else if (size != 0) {
    void* elements = nullptr;
    expect(api, ort::GetTensorMutableData(api, value, &elements));
    data.bytes.assign(static_cast<const char*>(elements), count * size);
  } else {
    return data;
  }
  data.type = type;
  return data;
}

}  // namespace

std::size_t bytes_of(OrtElementType type) {
  switch (type) {
    case OrtElementType::kBool:
    case OrtElementType::kUint8:
    case OrtElementType::kInt8:
    case OrtElementType::kFloat8E4M3FN:
    case OrtElementType::kFloat8E5M2:
      return 1;
    case OrtElementType::kUint16:
    case OrtElementType::kInt16:
    case OrtElementType::kFloat16:
    case OrtElementType::kBfloat16:
      return 2;
    case OrtElementType::kFloat:
    case OrtElementType::kInt32:
    case OrtElementType::kUint32:
      return 4;
    case OrtElementType::kDouble:
    case OrtElementType::kInt64:
    case OrtElementType::kUint64:
      return 8;
    default:
      return 0;
  }
}

Engine::Engine(const std::vector<std::string>& libraries) {
  const SharedLibrary loaded = load_library(libraries);
  if (!loaded)
    throw_environment(
        "no ONNX Runtime is here: pip install onnxruntime, or name libonnxruntime.so in "
        "LEHR_ONNXRUNTIME (tried: {})",
        fmt::join(libraries, ", "));
  const auto get = function_of<const OrtApiBase*()>(loaded.handle, "OrtGetApiBase");
  if (get == nullptr) throw_environment("{} is no ONNX Runtime: it has no OrtGetApiBase", loaded.path);
  const OrtApiBase* const base = get();
  version_ = base->get_version_string();
  path_ = loaded.path;
  api_ = base->get_api(kOrtApiVersion);
  if (api_ == nullptr)
    throw_environment("{} is of version {}: 1.17 or newer is needed", loaded.path, version_);
  expect(api_, ort::CreateEnv(api_, OrtLoggingLevel::kError, "lehr", &environment_));
}

struct LoadedNetwork::State {
  State(const Engine& engine) : api(engine.api()) {}
  ~State() {
    fed.clear();
    made.clear();
    if (session != nullptr) ort::ReleaseSession(api, session);
  }

  void set_up(OwnedOptions& options, const LoadOptions& wanted) const {
    expect(api, ort::CreateSessionOptions(api, options.fresh()));
    expect(api, ort::SetIntraOpNumThreads(api, options.get(), wanted.threads));
    // Without this the threads would go on spinning after an inference, on CPUs that another session needs.
    if (!wanted.spins)
      expect(api, ort::AddSessionConfigEntry(api, options.get(), "session.force_spinning_stop", "1"));
    expect(api, ort::SetSessionGraphOptimizationLevel(
                    api, options.get(), wanted.optimized ? OrtOptimizations::kAll : OrtOptimizations::kNone));
    expect(api,
           ort::SetSessionLogSeverityLevel(api, options.get(), static_cast<int>(OrtLoggingLevel::kError)));
    if (!wanted.profile.empty())
      expect(api, ort::EnableProfiling(api, options.get(), wanted.profile.c_str()));
    if (!wanted.plugin.empty())
      expect(api, ort::RegisterCustomOpsLibrary_V2(api, options.get(), wanted.plugin.c_str()));
  }

  /// Returns the text that `ask(allocator, &text)` allocates.
  std::string text_from(const auto& ask) const {
    OrtAllocator* allocator = nullptr;
    expect(api, ort::GetAllocatorWithDefaultOptions(api, &allocator));
    char* given = nullptr;
    expect(api, ask(allocator, &given));
    std::string text = given;
    expect(api, ort::AllocatorFree(api, allocator, given));
    return text;
  }

  Value value_at(std::size_t index, bool input) const {
    Value value;
    value.name = text_from([&](OrtAllocator* allocator, char** name) {
      return input ? ort::SessionGetInputName(api, session, index, allocator, name)
                   : ort::SessionGetOutputName(api, session, index, allocator, name);
    });
    Owned<OrtTypeInfo, ort::ReleaseTypeInfo> type(api);
    expect(api, input ? ort::SessionGetInputTypeInfo(api, session, index, type.fresh())
                      : ort::SessionGetOutputTypeInfo(api, session, index, type.fresh()));
    const OrtTensorTypeAndShapeInfo* tensor = nullptr;
    expect(api, ort::CastTypeInfoToTensorInfo(api, type.get(), &tensor));
    if (tensor == nullptr) return value;
    expect(api, ort::GetTensorElementType(api, tensor, &value.type));
    value.shape = shape_of(api, tensor);
    return value;
  }

  void look() {
    std::size_t count = 0;
    expect(api, ort::SessionGetInputCount(api, session, &count));
    for (std::size_t i = 0; i < count; ++i) inputs.push_back(value_at(i, true));
    expect(api, ort::SessionGetOutputCount(api, session, &count));
    for (std::size_t i = 0; i < count; ++i) outputs.push_back(value_at(i, false));
    made.reserve(count);
    for (std::size_t i = 0; i < count; ++i) made.emplace_back(api);
  }

  const OrtApi* api;
  OrtSession* session = nullptr;
  std::vector<Value> inputs, outputs;
  std::vector<std::string> bytes;  ///< elements of `fed`
  std::vector<OwnedValue> fed, made;
  bool bound = false;  ///< whether `made` is bound and stays
};

LoadedNetwork::LoadedNetwork(const Engine& engine, const std::string& path, const LoadOptions& options)
    : state_(std::make_unique<State>(engine)) {
  OwnedOptions own(engine.api());
  state_->set_up(own, options);
  expect(engine.api(),
         ort::CreateSession(engine.api(), engine.environment(), path.c_str(), own.get(), &state_->session));
  state_->look();
}

LoadedNetwork::LoadedNetwork(const Engine& engine, std::string_view bytes, const LoadOptions& options)
    : state_(std::make_unique<State>(engine)) {
  OwnedOptions own(engine.api());
  state_->set_up(own, options);
  expect(engine.api(), ort::CreateSessionFromArray(engine.api(), engine.environment(), bytes.data(),
                                                   bytes.size(), own.get(), &state_->session));
  state_->look();
}

LoadedNetwork::~LoadedNetwork() = default;

const std::vector<Value>& LoadedNetwork::inputs() const {
  return state_->inputs;
}
const std::vector<Value>& LoadedNetwork::outputs() const {
  return state_->outputs;
}

void LoadedNetwork::feed(const std::vector<Data>& data) {
  State& state = *state_;
  state.fed.clear();
  state.bytes.clear();
  state.bytes.reserve(state.inputs.size());  // if the vector grew, short strings would move in memory
  Owned<OrtMemoryInfo, ort::ReleaseMemoryInfo> memory(state.api);
  expect(state.api,
         ort::CreateCpuMemoryInfo(state.api, OrtAllocatorType::kArena, OrtMemType::kDefault, memory.fresh()));
  for (const Value& input : state.inputs) {
    const auto found = std::ranges::find(data, input.name, &Data::name);
    if (found == data.end()) throw_user("input '{}' is not given", input.name);
    const std::size_t size = element_count(found->shape) * bytes_of(found->type);
    if (size != found->bytes.size())
      throw_user("input '{}' has {} bytes; its shape makes {}", input.name, found->bytes.size(), size);
    state.bytes.push_back(found->bytes);
    state.fed.emplace_back(state.api);
    expect(state.api, ort::CreateTensorWithDataAsOrtValue(
                          state.api, memory.get(), state.bytes.back().data(), state.bytes.back().size(),
                          found->shape.data(), found->shape.size(), found->type, state.fed.back().fresh()));
  }
}

void LoadedNetwork::bind(std::span<const Value> values, std::span<void* const> pointers) {
  State& state = *state_;
  Owned<OrtMemoryInfo, ort::ReleaseMemoryInfo> memory(state.api);
  expect(state.api,
         ort::CreateCpuMemoryInfo(state.api, OrtAllocatorType::kArena, OrtMemType::kDefault, memory.fresh()));
  const auto bind_to = [&](const Value& wanted, OrtValue** made) {
    const auto found = std::ranges::find(values, wanted.name, &Value::name);
    if (found == values.end()) throw_user("'{}' is bound to no memory", wanted.name);
    void* const data = pointers[static_cast<std::size_t>(found - values.begin())];
    expect(state.api, ort::CreateTensorWithDataAsOrtValue(
                          state.api, memory.get(), data, element_count(found->shape) * bytes_of(found->type),
                          found->shape.data(), found->shape.size(), found->type, made));
  };
  state.fed.clear();
  for (const Value& input : state.inputs) bind_to(input, state.fed.emplace_back(state.api).fresh());
  for (std::size_t i = 0; i < state.outputs.size(); ++i) bind_to(state.outputs[i], state.made[i].fresh());
  state.bound = true;
}

double LoadedNetwork::run() {
  State& state = *state_;
  std::vector<const char*> input_names, output_names;
  std::vector<const OrtValue*> inputs;
  std::vector<OrtValue*> outputs(state.outputs.size(), nullptr);
  for (std::size_t i = 0; i < state.inputs.size(); ++i) {
    input_names.push_back(state.inputs[i].name.c_str());
    inputs.push_back(state.fed[i].get());
  }
  for (const Value& output : state.outputs) output_names.push_back(output.name.c_str());
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (!state.bound) state.made[i].reset();
    outputs[i] = state.made[i].get();
  }
  const auto begin = std::chrono::steady_clock::now();
  OrtStatus* const status = ort::Run(state.api, state.session, nullptr, input_names.data(), inputs.data(),
                                     inputs.size(), output_names.data(), output_names.size(), outputs.data());
  const double us =
      std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
  for (std::size_t i = 0; i < outputs.size() && !state.bound; ++i) *state.made[i].fresh() = outputs[i];
  expect(state.api, status);
  return us;
}

std::string LoadedNetwork::end_profile() {
  return state_->text_from([&](OrtAllocator* allocator, char** path) {
    return ort::SessionEndProfiling(state_->api, state_->session, allocator, path);
  });
}

std::vector<Data> LoadedNetwork::results() const {
  const State& state = *state_;
  std::vector<Data> results;
  for (std::size_t i = 0; i < state.outputs.size(); ++i) {
    results.push_back(data_of(state.api, state.made[i].get()));
    results.back().name = state.outputs[i].name;
  }
  return results;
}

}  // namespace lehr::onnxruntime
