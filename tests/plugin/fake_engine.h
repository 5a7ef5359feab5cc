// The parts of ONNX Runtime that a plug-in calls: a table of functions over plain structs.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "plugin/onnxruntime_api.h"

namespace lehr {

struct OrtStatus {
  OrtErrorCode code;
  std::string text;
};
struct OrtTensorTypeAndShapeInfo {
  std::vector<std::int64_t> dims;
  OrtElementType type = OrtElementType::kFloat;
};
struct OrtTypeInfo {
  OrtTensorTypeAndShapeInfo tensor;
};
struct OrtSessionOptions {};
struct OrtCustomOpDomain {
  std::string name;
  std::vector<const OrtCustomOp*> ops;
};

struct OrtValue {
  std::vector<std::int64_t> dims;
  std::vector<float> values;
  float* outside = nullptr;  ///< where it does not own its values
  float* data() { return outside != nullptr ? outside : values.data(); }
};
struct OrtKernelInfo {
  std::string name = "a_node";
  std::map<std::string, std::string> texts;
  std::map<std::string, std::int64_t> ints;
  std::map<std::string, std::vector<std::int64_t>> lists;
  std::vector<OrtValue*> inputs;                ///< the initializer of each; nullptr if it has no initializer
  std::map<std::size_t, OrtElementType> types;  ///< of inputs that are not of f32
};
struct OrtKernelContext {
  std::vector<OrtValue*> inputs;
  OrtValue output;
  void* stream = nullptr;
  OrtValue second = {};  ///< output; a third one is left out
};

namespace testing {

/// The plug-in's requests to the engine since reset_engine().
struct Engine {
  std::atomic<int> parallel_calls = 0;
  bool refuses_parallel_calls = false;
  std::atomic<int> live = 0;            ///< objects that wait for their release
  OrtCustomOpDomain* domain = nullptr;  ///< the last domain that a session got
};
Engine& engine();
void reset_engine();
/// Returns the engine that loads a plug-in, of a certain version.
const OrtApiBase* engine_base();
/// Returns an engine without version 17.
const OrtApiBase* old_engine_base();

}  // namespace testing
}  // namespace lehr
