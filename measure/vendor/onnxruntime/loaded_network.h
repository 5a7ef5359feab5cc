// ONNX Runtime in this process: sessions for models, through its C API. The library is loaded at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/onnxruntime_api.h"

namespace lehr::onnxruntime {

/// The loaded library. It stays loaded as long as the process lives.
class Engine {
 public:
  /// Loads the first of `libraries` (files, or names for the loader) that can be loaded. Throws
  /// Error(kEnvironment), whose text says what to do, if no library is found or the library is older than
  /// 1.17.
  explicit Engine(const std::vector<std::string>& libraries);
  Engine(const Engine&) = delete;

  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }  ///< path of the library, or its name for the loader
  const OrtApi* api() const { return api_; }
  const OrtEnv* environment() const { return environment_; }

 private:
  const OrtApi* api_ = nullptr;
  OrtEnv* environment_ = nullptr;
  std::string version_, path_;
};

/// An input or output of a session.
struct Value {
  std::string name;
  OrtElementType type = OrtElementType::kUndefined;  ///< kUndefined: not a tensor
  std::vector<std::int64_t> shape;                   ///< -1: any size
};

/// A tensor in our memory: elements in row-major order, stored as the engine stores them. A text is stored as
/// its length in 8 bytes and its characters.
struct Data {
  std::string name;
  OrtElementType type = OrtElementType::kFloat;
  std::vector<std::int64_t> shape;
  std::string bytes;
};
/// Returns the bytes of one element. Returns 0 for text, for types whose elements are not whole bytes, and
/// for unknown types.
std::size_t bytes_of(OrtElementType type);

struct LoadOptions {
  int threads = 1;           ///< size of its intra-op pool, including the caller's thread
  std::string plugin = {};   ///< path of a library of operators; "": no plug-in
  bool optimized = true;     ///< true: with all optimizations; false: with none
  std::string profile = {};  ///< prefix of the path of a file with times by node; "": no file is written
  bool spins = false;        ///< whether its threads look for work for a while after an inference
};

class LoadedNetwork {
 public:
  /// Loads a file. Throws Error(kUser) with the engine's message for a model that it refuses.
  LoadedNetwork(const Engine& engine, const std::string& path, const LoadOptions& options);
  /// Loads a file's bytes.
  LoadedNetwork(const Engine& engine, std::string_view bytes, const LoadOptions& options);
  ~LoadedNetwork();
  LoadedNetwork(const LoadedNetwork&) = delete;

  const std::vector<Value>& inputs() const;
  const std::vector<Value>& outputs() const;
  /// Sets all inputs, in any order. The inputs are copied. Throws Error(kUser) for a name, type or shape that
  /// the session does not have.
  void feed(const std::vector<Data>& inputs);
  /// From now on the session reads all inputs from the caller's memory and writes all outputs there.
  /// `pointers` are the addresses of `values`, which may be in any order. Throws as feed().
  void bind(std::span<const Value> values, std::span<void* const> pointers);
  /// Runs one inference and returns its microseconds. Throws Error(kUser) with the engine's message if it
  /// fails.
  double run();
  /// Writes the file of LoadOptions::profile and returns its path. Call it once. Throws as run().
  std::string end_profile();
  /// Returns the outputs of the last run, in order. Call it only if nothing is bound. An output that is not a
  /// tensor of a known type gets the type kUndefined and no elements.
  std::vector<Data> results() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr::onnxruntime
