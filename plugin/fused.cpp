#include "plugin/fused.h"

#include <algorithm>

namespace lehr::onnxruntime {

std::atomic<std::uint64_t> kernel_calls = 0;

namespace {

/// Implements kernels_parallel_for with the engine's threads.
struct OnEngine {
  const OrtApi* api;
  const OrtKernelContext* context;

  struct Work {
    void (*work)(void* context, std::uint32_t worker);
    void* context;
  };
  static void one(void* given, std::size_t worker) {
    const Work& work = *static_cast<const Work*>(given);
    work.work(work.context, static_cast<std::uint32_t>(worker));
  }
  // If the engine refuses to run the work, kernels_call() runs all of it on the calling thread.
  static void all(void* pool, std::uint32_t workers, void (*work)(void* context, std::uint32_t worker),
                  void* context) {
    const OnEngine& engine = *static_cast<const OnEngine*>(pool);
    Work given{work, context};
    Sentence ignored;
    succeeded(engine.api,
              ort::KernelContext_ParallelFor(engine.api, engine.context, &one, workers, 0, &given), ignored);
  }
};

constexpr long long shown(std::int64_t number) {
  return static_cast<long long>(number);
}
constexpr unsigned long long shown(std::uint64_t number) {
  return static_cast<unsigned long long>(number);
}

// Reads a rank and that many dimensions from position `at` on, and moves `at` to the position after them.
bool take_shape(const Array<std::int64_t>& ints, std::size_t& at, Shape& shape) {
  const std::int64_t rank = ints[at++];
  if (rank < 0 || rank > static_cast<std::int64_t>(Shape::kMostRank) ||
      static_cast<std::size_t>(rank) > ints.size() - at)
    return false;
  shape.rank = static_cast<std::size_t>(rank);
  for (std::size_t d = 0; d < shape.rank; ++d) {
    shape.dims[d] = ints[at++];
    if (shape.dims[d] < 0) return false;
  }
  return true;
}

bool is_open(const Shape& shape) {
  for (std::size_t d = 0; d < shape.rank; ++d)
    if (shape.dims[d] == 0) return true;
  return false;
}

bool fits(const Shape& reported, const Shape& shape) {
  if (reported.rank != shape.rank) return false;
  for (std::size_t d = 0; d < reported.rank; ++d)
    if (reported.dims[d] != 0 && reported.dims[d] != shape.dims[d]) return false;
  return true;
}

}  // namespace

/// The arguments of a call, and the facts that follow from its first input.
struct Fused::Call {
  void* arguments[kMostInputs + kMostOutputs];
  Shape first;
  std::uint64_t rows = 0;
};

Fused::~Fused() {
  if (packed_ != nullptr) drop(packed_);
  if (library_ != nullptr && target_ == KERNELS_CUDA) end_gpu_node(*library_);
}

OrtStatus* Fused::create(const OrtKernelInfo* info) {
  Sentence error;
  if (node_name(api_, info, name_, error) && read(info, error) && find_function(error) &&
      match_tensors(info, error) && check_planned(error) && take_constants(info, error))
    return nullptr;
  return failed(api_, name_.size() > 0 ? name_.data() : "", error);
}

bool Fused::read(const OrtKernelInfo* info, Sentence& error) {
  std::int64_t version = 0, threads = 0;
  if (!succeeded(api_, ort::KernelInfoGetAttribute_int64(api_, info, "version", &version), error))
    return false;
  if (version != 4)
    return refuse(
        error, "it is of version %lld, and this plug-in knows 4: take that of the lehr that wrote the model",
        shown(version));
  Array<char> library;
  if (!succeeded(api_, ort::KernelInfoGetAttribute_int64(api_, info, "threads", &threads), error) ||
      !text_attribute(api_, info, "library", library, error) ||
      !text_attribute(api_, info, "workload", workload_, error) || !read_shapes(info, error) ||
      !read_outputs(info, error))
    return false;
  if (threads < 1 || threads > 0xffff) return refuse(error, "its threads are %lld", shown(threads));
  threads_ = static_cast<std::uint32_t>(threads);
  library_ = library_beside(library.data(), error);
  if (library_ == nullptr) return false;
  if (target_ == KERNELS_CUDA) begin_gpu_node(*library_);
  return true;
}

bool Fused::read_shapes(const OrtKernelInfo* info, Sentence& error) {
  Array<std::int64_t> shapes;
  std::size_t inputs = 0;
  if (!ints_attribute(api_, info, "shapes", shapes, error) ||
      !succeeded(api_, ort::KernelInfo_GetInputCount(api_, info, &inputs), error))
    return false;
  for (std::size_t at = 0; at < shapes.size();) {
    Input input;
    if (!take_shape(shapes, at, input.shape))
      return refuse(error, "its attribute 'shapes' has no rank before so many dimensions, 8 at most");
    if (!inputs_.add(input)) return refuse(error, "there is no memory for its shapes");
  }
  return (inputs_.size() > 0 && inputs_.size() <= kMostInputs && inputs_.size() == inputs) ||
         refuse(error, "it has %zu inputs, and shapes of %zu", inputs, inputs_.size());
}

bool Fused::read_outputs(const OrtKernelInfo* info, Sentence& error) {
  Array<std::int64_t> shapes;
  if (!ints_attribute(api_, info, "output_shapes", shapes, error)) return false;
  for (std::size_t at = 0; at < shapes.size();) {
    Output output;
    if (!take_shape(shapes, at, output.shape))
      return refuse(error, "its attribute 'output_shapes' has no rank before so many dimensions, 8 at most");
    for (std::size_t d = 0; d < output.shape.rank; ++d)
      if (output.shape.dims[d] == 0 && d >= inputs_[0].shape.rank)
        return refuse(error, "its output follows a dimension that its first input has not");
    if (!outputs_.add(output)) return refuse(error, "there is no memory for its shapes");
  }
  return (outputs_.size() > 0 && outputs_.size() <= kMostOutputs) ||
         refuse(error, "it has shapes of %zu outputs", outputs_.size());
}

bool Fused::find_function(Sentence& error) {
  const LibraryFunctions& functions = library_->functions;
  const auto find = [&](kernels_context* context) {
    if (context == nullptr) return false;
    function_ = functions.find(context, workload_.data());
    if (function_ == nullptr && was_replaced(*library_))
      return refuse(error, "%.300s was replaced after this process loaded it: start a new process",
                    library_->path);
    return function_ != nullptr || refuse(error, "%.200s: %s", library_->path, functions.message(context));
  };
  if (target_ == KERNELS_CUDA) return find(LockedGpuContext(*library_, nullptr, error).get());
  return find(BorrowedContext(*library_, threads_, error).get());
}

bool Fused::match_tensors(const OrtKernelInfo* info, Sentence& error) {
  std::size_t inputs = 0, outputs = 0;
  for (std::uint32_t i = 0; i < function_->tensor_count; ++i) {
    const kernels_tensor& tensor = function_->tensors[i];
    const OrtElementType type = type_named(tensor.type);
    if (tensor.role == KERNELS_OUT) {
      if (type != makes_)
        return refuse(error, "its operator makes %s, and its kernel %s", word_of(makes_), tensor.type);
      if (outputs < outputs_.size()) outputs_[outputs].tensor = i;
      ++outputs;
      continue;
    }
    if (inputs < inputs_.size()) {
      OrtElementType given = OrtElementType::kUndefined;
      if (!input_type(api_, info, inputs, given, error)) return false;
      if (given != type)
        return refuse(error, "its input %zu is of %s, and its kernel's %s of %s", inputs, word_of(given),
                      tensor.name, tensor.type);
      inputs_[inputs].tensor = i;
    }
    ++inputs;
  }
  return (inputs == inputs_.size() && outputs == outputs_.size()) ||
         refuse(error, "it has %zu inputs and %zu outputs, and its kernel takes %zu and makes %zu",
                inputs_.size(), outputs_.size(), inputs, outputs);
}

// Checks the sizes that are known before any call.
bool Fused::check_planned(Sentence& error) {
  const Shape& first = inputs_[0].shape;
  std::uint64_t rows = 0;
  any_open_ =
      std::any_of(inputs_.begin(), inputs_.end(), [](const Input& input) { return is_open(input.shape); });
  if (any_open_ && function_->most_rows == 0)
    return refuse(error, "its shapes leave a dimension open, and its kernel has a fixed number of rows");
  if (!is_open(first) && !rows_of(first, rows, error)) return false;
  for (const Input& input : inputs_)
    if (!any_open_ && !check_bytes(input.tensor, input.shape, rows, error)) return false;
  for (const Output& output : outputs_)
    if (!any_open_ && !check_bytes(output.tensor, shape_of_output(output, first), rows, error)) return false;
  return true;
}

bool Fused::take_constants(const OrtKernelInfo* info, Sentence& error) {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const kernels_tensor& tensor = function_->tensors[inputs_[i].tensor];
    int is_constant = 0;
    const OrtValue* value = nullptr;
    if (!succeeded(api_, ort::KernelInfoGetConstantInput_tensor(api_, info, i, &is_constant, &value), error))
      return false;
    inputs_[i].is_constant = is_constant != 0 && value != nullptr;
    if (!inputs_[i].is_constant) {
      if (tensor.packed == 0) continue;
      return refuse(error, "its kernel packs %s, which is no initializer", tensor.name);
    }
    if (any_open_ && tensor.row_bytes > 0)
      return refuse(error, "its %s has rows that vary, and is an initializer", tensor.name);
    Shape shape;
    void* data = nullptr;
    if (!shape_of(api_, value, shape, error) || !data_of(api_, value, data, error)) return false;
    if (!fits(inputs_[i].shape, shape) ||
        (tensor.row_bytes == 0 && !check_bytes(inputs_[i].tensor, shape, 0, error)))
      return refuse(error, "its initializer %zu has another shape than it says", i);
    inputs_[i].shape = shape;
    if (tensor.packed != 0 && !pack(data, error)) return false;
  }
  return true;
}

bool Fused::pack(const void* operand, Sentence& error) {
  const LibraryFunctions& functions = library_->functions;
  const BorrowedContext context(*library_, threads_, error);
  if (context.get() == nullptr) return false;
  functions.use(context.get(), [](void*, std::uint32_t, void (*)(void*, std::uint32_t), void*) {}, nullptr);
  Prepacked* const made = new_prepacked(functions.pack_bytes(context.get(), function_));
  if (made == nullptr) return refuse(error, "there is no memory for what its kernel packs");
  if (functions.pack(context.get(), function_, operand, made->memory) != KERNELS_OK) {
    refuse(error, "%s", functions.message(context.get()));
    drop(made);
    return false;
  }
  packed_ = share(made);
  return true;
}

bool Fused::rows_of(const Shape& first, std::uint64_t& rows, Sentence& error) const {
  const kernels_tensor& tensor = function_->tensors[inputs_[0].tensor];
  if (function_->most_rows == 0 || tensor.row_bytes == 0) return true;
  const std::int64_t bytes = first.bytes(type_named(tensor.type));
  rows = bytes > 0 ? static_cast<std::uint64_t>(bytes) / tensor.row_bytes : 0;
  return (rows >= function_->least_rows && rows <= function_->most_rows) ||
         refuse(error, "its input has %llu rows, and its kernels are for %llu to %llu", shown(rows),
                shown(function_->least_rows), shown(function_->most_rows));
}

bool Fused::check_bytes(std::uint32_t index, const Shape& shape, std::uint64_t rows, Sentence& error) const {
  const kernels_tensor& tensor = function_->tensors[index];
  const std::uint64_t wanted = tensor.row_bytes > 0 ? rows * tensor.row_bytes : tensor.bytes;
  const std::int64_t bytes = shape.bytes(type_named(tensor.type));
  return (bytes >= 0 && static_cast<std::uint64_t>(bytes) == wanted) ||
         refuse(error, "its %s has %lld bytes, and its kernel's %llu", tensor.name, shown(bytes),
                shown(wanted));
}

Shape Fused::shape_of_output(const Output& output, const Shape& first) const {
  Shape shape = output.shape;
  for (std::size_t d = 0; d < shape.rank; ++d)
    if (shape.dims[d] == 0) shape.dims[d] = first.dims[d];
  return shape;
}

bool Fused::take_inputs(const OrtKernelContext* context, Call& call, Sentence& error) const {
  for (std::size_t i = 0; i < inputs_.size(); ++i) {
    const Input& input = inputs_[i];
    void*& argument = call.arguments[input.tensor];
    if (packed_ != nullptr && function_->tensors[input.tensor].packed != 0) {
      argument = packed_->memory;
      continue;
    }
    const OrtValue* value = nullptr;
    Shape shape = input.shape;
    if (!succeeded(api_, ort::KernelContext_GetInput(api_, context, i, &value), error)) return false;
    if (value == nullptr) return refuse(error, "its input %zu is left out", i);
    if ((!input.is_constant && !shape_of(api_, value, shape, error)) ||
        !data_of(api_, value, argument, error))
      return false;
    if (!fits(input.shape, shape))
      return refuse(error, "its input %zu has another shape than its kernel is for", i);
    if (i == 0) {
      call.first = shape;
      if (!rows_of(shape, call.rows, error)) return false;
    }
    if (!check_bytes(input.tensor, shape, call.rows, error)) return false;
  }
  return true;
}

OrtStatus* Fused::run(OrtKernelContext* context) {
  Sentence error;
  return compute(context, error) ? nullptr : failed(api_, name_.data(), error);
}

bool Fused::take_outputs(OrtKernelContext* context, Call& call, Sentence& error) const {
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const std::uint32_t tensor = outputs_[i].tensor;
    const Shape shape = shape_of_output(outputs_[i], call.first);
    OrtValue* output = nullptr;
    if (!check_bytes(tensor, shape, call.rows, error) ||
        !succeeded(api_, ort::KernelContext_GetOutput(api_, context, i, shape.dims, shape.rank, &output),
                   error))
      return false;
    if (output == nullptr) return refuse(error, "its output %zu is left out", i);
    if (!data_of(api_, output, call.arguments[tensor], error)) return false;
  }
  return true;
}

bool Fused::compute(OrtKernelContext* context, Sentence& error) {
  Call call;
  if (!take_inputs(context, call, error) || !take_outputs(context, call, error)) return false;
  if (!(target_ == KERNELS_CUDA ? launch(context, call, error) : run_here(context, call, error)))
    return false;
  kernel_calls.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool Fused::run_here(OrtKernelContext* context, Call& call, Sentence& error) {
  const LibraryFunctions& functions = library_->functions;
  const BorrowedContext borrowed(*library_, threads_, error);
  if (borrowed.get() == nullptr) return false;
  OnEngine engine{api_, context};
  functions.use(borrowed.get(), &OnEngine::all, &engine);
  return functions.call(borrowed.get(), function_, call.arguments, call.rows) == KERNELS_OK ||
         refuse(error, "%s", functions.message(borrowed.get()));
}

bool Fused::launch(OrtKernelContext* context, Call& call, Sentence& error) {
  const LibraryFunctions& functions = library_->functions;
  void* stream = nullptr;
  if (!succeeded(api_, ort::KernelContext_GetGPUComputeStream(api_, context, &stream), error)) return false;
  const LockedGpuContext locked(*library_, &stream, error);
  if (locked.get() == nullptr) return false;
  return functions.call(locked.get(), function_, call.arguments, call.rows) == KERNELS_OK ||
         refuse(error, "%s", functions.message(locked.get()));
}

}  // namespace lehr::onnxruntime
