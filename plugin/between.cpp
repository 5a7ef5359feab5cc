#include "plugin/between.h"

#include <algorithm>
#include <atomic>

#include "plugin/bf16.h"

namespace lehr::onnxruntime {
namespace {

// Bytes of tensors that one piece of the work handles. A smaller piece is not worth another thread.
constexpr std::int64_t kPieceBytes = 65536;

std::int64_t elements(const Shape& shape) {
  const std::int64_t bytes = shape.bytes(OrtElementType::kBfloat16);
  return bytes < 0 ? bytes : bytes / 2;
}

bool broadcast(const Shape& a, const Shape& b, Shape& both, Sentence& error) {
  both.rank = std::max(a.rank, b.rank);
  const auto from_behind = [](const Shape& shape, std::size_t d) {
    return d < shape.rank ? shape.dims[shape.rank - 1 - d] : 1;
  };
  for (std::size_t d = 0; d < both.rank; ++d) {
    const std::int64_t one = from_behind(a, d), other = from_behind(b, d);
    if (one != other && one != 1 && other != 1)
      return refuse(error, "its inputs have shapes that do not go together");
    both.dims[both.rank - 1 - d] = one == 1 ? other : one;
  }
  return true;
}

}  // namespace

/// The inputs and the work of a call. Several pieces of the work may run at the same time.
struct Between::Call {
  const OrtApi* api;
  OrtKernelContext* context;
  Kind kind;
  const std::uint16_t* inputs[2] = {};
  Shape shapes[2] = {}, out = {};
  std::uint16_t* output = nullptr;
  PlaneWindows windows = {};               ///< windows of a pool
  std::int64_t units = 0, unit_bytes = 1;  ///< number of units (planes, rows or numbers), and bytes of each
  std::int64_t piece = 1;                  ///< number of units in a piece
  std::atomic<bool> no_memory = false;

  void run_all() {
    piece = std::max<std::int64_t>(1, kPieceBytes / unit_bytes);
    const std::int64_t pieces = (units + piece - 1) / piece;
    if (pieces <= 1) return run(0, units);
    const auto one = [](void* call, std::size_t at) {
      Call& self = *static_cast<Call*>(call);
      const std::int64_t begin = static_cast<std::int64_t>(at) * self.piece;
      self.run(begin, std::min(begin + self.piece, self.units));
    };
    Sentence refused;
    if (!succeeded(
            api, ort::KernelContext_ParallelFor(api, context, one, static_cast<std::size_t>(pieces), 0, this),
            refused))
      run(0, units);
  }

 private:
  void run(std::int64_t begin, std::int64_t end) {
    switch (kind) {
      case Kind::kRelu:
        return relu_row(inputs[0] + begin, output + begin, end - begin);
      case Kind::kGlobalAveragePool: {
        const std::int64_t size = elements(shapes[0]) / units;
        for (std::int64_t i = begin; i < end; ++i) output[i] = mean_of(inputs[0] + i * size, size);
        return;
      }
      case Kind::kAdd:
        return add(begin, end);
      default:
        return pool(begin, end);
    }
  }

  void pool(std::int64_t begin, std::int64_t end) {
    const std::int64_t size = windows.height * windows.width,
                       out_size = windows.out_height * windows.out_width;
    Array<unsigned char> scratch;
    if (kind == Kind::kMaxPool && !scratch.resize(static_cast<std::size_t>(windows.scratch_bytes()))) {
      no_memory = true;
      return;
    }
    for (std::int64_t i = begin; i < end; ++i)
      if (kind == Kind::kMaxPool)
        maxima_of_plane(windows, inputs[0] + i * size, output + i * out_size, scratch.data());
      else
        means_of_plane(windows, inputs[0] + i * size, output + i * out_size);
  }

  // Adds tensors: number by number if their shapes are equal, else row by row.
  void add(std::int64_t begin, std::int64_t end) const {
    if (shapes[0] == shapes[1])
      return add_rows(inputs[0] + begin, 1, inputs[1] + begin, 1, output + begin, end - begin);
    const std::int64_t width = out.dims[out.rank - 1];
    for (std::int64_t row = begin; row < end; ++row)
      add_rows(row_of(0, row), step_of(0), row_of(1, row), step_of(1), output + row * width, width);
  }
  std::int64_t step_of(int input) const {
    const Shape& shape = shapes[input];
    return shape.rank == 0 || shape.dims[shape.rank - 1] == 1 ? 0 : 1;
  }
  // Returns the row of an input that is broadcast to a row of the output.
  const std::uint16_t* row_of(int input, std::int64_t row) const {
    const Shape& shape = shapes[input];
    std::int64_t at = 0, size = shape.rank == 0 ? 1 : shape.dims[shape.rank - 1];
    for (std::size_t d = 1; d < shape.rank; ++d) {
      const std::int64_t index = row % out.dims[out.rank - 1 - d], own = shape.dims[shape.rank - 1 - d];
      row /= out.dims[out.rank - 1 - d];
      if (own != 1) at += index * size;
      size *= own;
    }
    return inputs[input] + at;
  }
};

OrtStatus* Between::create(const OrtKernelInfo* info) {
  Sentence error;
  const bool is_read = node_name(api_, info, name_, error) && read_pool(api_, info, pool_, error);
  return is_read ? nullptr : failed(api_, name_.size() > 0 ? name_.data() : "", error);
}

OrtStatus* Between::run(OrtKernelContext* context) const {
  Sentence error;
  return compute(context, error) ? nullptr : failed(api_, name_.data(), error);
}

bool Between::compute(OrtKernelContext* context, Sentence& error) const {
  Call call{api_, context, op_.kind};
  void* data = nullptr;
  for (std::size_t i = 0; i < op_.inputs; ++i) {
    const OrtValue* input = nullptr;
    if (!succeeded(api_, ort::KernelContext_GetInput(api_, context, i, &input), error) ||
        !shape_of(api_, input, call.shapes[i], error) || !data_of(api_, input, data, error))
      return false;
    call.inputs[i] = static_cast<const std::uint16_t*>(data);
  }
  OrtValue* output = nullptr;
  if (!prepare(call, error) ||
      !succeeded(api_, ort::KernelContext_GetOutput(api_, context, 0, call.out.dims, call.out.rank, &output),
                 error))
    return false;
  if (call.units == 0) return true;
  if (!data_of(api_, output, data, error)) return false;
  call.output = static_cast<std::uint16_t*>(data);
  call.run_all();
  return !call.no_memory || refuse(error, "there is no memory for its rows");
}

// Computes the output's shape, and divides the work into units.
bool Between::prepare(Call& call, Sentence& error) const {
  const Shape& image = call.shapes[0];
  const bool is_pool = op_.kind != Kind::kRelu && op_.kind != Kind::kAdd;
  call.out = image;
  if (op_.kind == Kind::kAdd && !(image == call.shapes[1]) &&
      !broadcast(image, call.shapes[1], call.out, error))
    return false;
  if (is_pool && !place_pool(call, error)) return false;
  const std::int64_t outputs = elements(call.out);
  if (outputs <= 0) return outputs == 0 || refuse(error, "its output is too large");
  call.units = outputs;
  call.unit_bytes = 4;
  if (is_pool) {
    call.units = image.dims[0] * image.dims[1];
    call.unit_bytes = std::max<std::int64_t>(1, 2 * (elements(image) / call.units));
  } else if (op_.kind == Kind::kAdd && !(image == call.shapes[1])) {
    const std::int64_t width = call.out.dims[call.out.rank - 1];
    call.units = outputs / width;
    call.unit_bytes = 4 * width;
  }
  return true;
}

bool Between::place_pool(Call& call, Sentence& error) const {
  const Shape& image = call.shapes[0];
  const bool is_global = op_.kind == Kind::kGlobalAveragePool;
  if (image.rank < 3) return refuse(error, "its input is no batch of images");
  if (image.rank > 4 && !is_global) return refuse(error, "its images have more than 2 dimensions");
  for (std::size_t i = 2; i < image.rank; ++i) call.out.dims[i] = 1;
  if (is_global) return true;
  PlaneWindows& windows = call.windows;
  const std::size_t spatial = image.rank - 2, last = image.rank - 1;
  windows.counts_pads = pool_.count_include_pad != 0;
  windows.width = image.dims[last];
  if (!place_window(pool_, spatial, spatial - 1, windows.width, windows.along, windows.out_width, error))
    return false;
  call.out.dims[last] = windows.out_width;
  if (spatial == 2) {
    windows.height = image.dims[2];
    if (!place_window(pool_, spatial, 0, windows.height, windows.down, windows.out_height, error))
      return false;
    call.out.dims[2] = windows.out_height;
  }
  return windows.scratch_bytes() >= 0 || refuse(error, "its windows are too large");
}

}  // namespace lehr::onnxruntime
