// ONNX Runtime in this process: sessions on models, through its C API. The library is loaded at run time.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/onnxruntime_api.h"

namespace lehr::onnxruntime {

/// The loaded library, for as long as the process lives.
class Engine {
 public:
  /// The first of `libraries` (files, or names for the loader) that is there. Throws Error(kEnvironment),
  /// saying what to do, where none is or it is older than 1.17.
  explicit Engine(const std::vector<std::string>& libraries);
  Engine(const Engine&) = delete;

  const std::string& version() const { return version_; }
  const std::string& path() const { return path_; }  ///< of the library, or its name for the loader
  const OrtApi* api() const { return api_; }
  const OrtEnv* environment() const { return environment_; }

 private:
  const OrtApi* api_ = nullptr;
  OrtEnv* environment_ = nullptr;
  std::string version_, path_;
};

/// What a session takes or gives.
struct Value {
  std::string name;
  OrtElementType type = OrtElementType::kUndefined;  ///< kUndefined: no tensor
  std::vector<std::int64_t> shape;                   ///< -1: any
};

/// A tensor of ours: elements in row-major order, as the engine has them; of text each as its length in 8
/// bytes and its characters.
struct Data {
  std::string name;
  OrtElementType type = OrtElementType::kFloat;
  std::vector<std::int64_t> shape;
  std::string bytes;
};
/// Of an element; 0: of text, and of types that have no whole bytes or are not known.
std::size_t bytes_of(OrtElementType type);

struct LoadOptions {
  int threads = 1;           ///< of its intra-op pool, the caller's thread among them
  std::string plugin = {};   ///< a library of operators; "": none
  bool optimized = true;     ///< all optimizations, or none
  std::string profile = {};  ///< begins the path of a file that tells where time goes; "": none
  bool spins = false;        ///< its threads look for work for a while behind an inference
};

class LoadedNetwork {
 public:
  /// Of a file. Throws Error(kUser) with the engine's words for a model that it refuses.
  LoadedNetwork(const Engine& engine, const std::string& path, const LoadOptions& options);
  /// Of a file's bytes.
  LoadedNetwork(const Engine& engine, std::string_view bytes, const LoadOptions& options);
  ~LoadedNetwork();
  LoadedNetwork(const LoadedNetwork&) = delete;

  const std::vector<Value>& inputs() const;
  const std::vector<Value>& outputs() const;
  /// All inputs, in any order; they are copied. Throws Error(kUser) for a name, type or shape that is none of
  /// its.
  void feed(const std::vector<Data>& inputs);
  /// Reads all inputs from memory of the caller's and writes all outputs there from now on: `values`, in any
  /// order, lie at `pointers`. Throws as feed().
  void bind(std::span<const Value> values, std::span<void* const> pointers);
  /// One inference; microseconds. Throws Error(kUser) with the engine's words where it fails.
  double run();
  /// Writes the file of LoadOptions::profile; its path. Once. Throws as run().
  std::string end_profile();
  /// Returns those of the last run, in order; where nothing is bound. One that is no tensor of a known type
  /// is of kUndefined, without elements.
  std::vector<Data> results() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace lehr::onnxruntime
