#include "plugin/between.h"

#include <algorithm>
#include <atomic>

#include "plugin/bf16.h"
#include "plugin/bundle_beside.h"
#include "plugin/node_shapes.h"
#include "runtime/message.h"

namespace lehr::onnxruntime {
namespace {

// Bytes of tensors that one piece of the work is of: less is not worth another thread.
constexpr std::int64_t kPieceBytes = 65536;

std::int64_t elements(const Shape& shape) {
  return shape.bytes(OrtElementType::kBfloat16) / 2;
}

}  // namespace

/// What a call brings, and its work: pieces of it may run at the same time.
struct Between::Call {
  const OrtApi* api;
  OrtKernelContext* context;
  Kind kind;
  const std::uint16_t* inputs[2] = {};
  Shape shapes[2] = {}, out = {};
  std::uint16_t* output = nullptr;
  PlaneWindows windows = {};               ///< of a pool
  std::int64_t units = 0, unit_bytes = 1;  ///< planes, rows or numbers
  std::int64_t piece = 1;                  ///< units of a piece
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
    lehr_error refused = no_error();
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
    const Scratch scratch(kind == Kind::kMaxPool ? static_cast<std::size_t>(windows.scratch_bytes()) : 0);
    if (kind == Kind::kMaxPool && scratch.get() == nullptr) {
      no_memory = true;
      return;
    }
    for (std::int64_t i = begin; i < end; ++i)
      if (kind == Kind::kMaxPool)
        maxima_of_plane(windows, inputs[0] + i * size, output + i * out_size, scratch.get());
      else
        means_of_plane(windows, inputs[0] + i * size, output + i * out_size);
  }

  // Numbers of tensors of one shape, else rows.
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
  // Where an input has what goes with a row of the output.
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

namespace {

bool add_attribute(Plan& plan, const PlanAttribute& attribute) {
  ++plan.nodes[0].attributes;
  return plan.attributes.add(attribute);
}

// Those that the node does not have are left out.
bool take_ints(const OrtApi* api, const OrtKernelInfo* info, const char* name, Plan& plan) {
  lehr_error absent = no_error();
  std::size_t count = 0;
  if (!succeeded(api, ort::KernelInfoGetAttributeArray_int64(api, info, name, nullptr, &count), absent) ||
      count == 0)
    return true;
  const std::size_t first = plan.ints.size();
  const PlanValue value{
      OrtOpAttrType::kInts, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(count), {}};
  return plan.ints.resize(first + count) &&
         succeeded(api,
                   ort::KernelInfoGetAttributeArray_int64(api, info, name, plan.ints.data() + first, &count),
                   absent) &&
         add_attribute(plan, {name, value});
}

bool take_int(const OrtApi* api, const OrtKernelInfo* info, const char* name, Plan& plan) {
  lehr_error absent = no_error();
  std::int64_t number = 0;
  if (!succeeded(api, ort::KernelInfoGetAttribute_int64(api, info, name, &number), absent)) return true;
  const PlanValue value{OrtOpAttrType::kInt, static_cast<std::uint32_t>(plan.ints.size()), 1, {}};
  return plan.ints.add(number) && add_attribute(plan, {name, value});
}

}  // namespace

OrtStatus* Between::create(const OrtKernelInfo* info) {
  lehr_error error = no_error();
  if (read(info, error)) return nullptr;
  if (error.text[0] == '\0') runtime::fail(&error, LEHR_NO_MEMORY, "there is no memory for its attributes");
  return failed(api_, name_.size() > 0 ? name_.data() : "", error);
}

bool Between::read(const OrtKernelInfo* info, lehr_error& error) {
  PlanNode node;
  node.op = op_.name;
  node.operands = static_cast<std::uint32_t>(op_.inputs);
  if (!node_name(api_, info, name_, error) || !plan_.nodes.add(node)) return false;
  for (const char* name : {"kernel_shape", "strides", "pads", "dilations"})
    if (!take_ints(api_, info, name, plan_)) return false;
  for (const char* name : {"ceil_mode", "count_include_pad"})
    if (!take_int(api_, info, name, plan_)) return false;
  lehr_error absent = no_error();
  if (text_attribute(api_, info, "auto_pad", texts_, absent)) {
    const PlanValue value{OrtOpAttrType::kString, 0, 0, texts_.data()};
    if (!add_attribute(plan_, {"auto_pad", value})) return false;
  }
  return true;
}

OrtStatus* Between::run(OrtKernelContext* context) const {
  lehr_error error = no_error();
  return compute(context, error) ? nullptr : failed(api_, name_.data(), error);
}

bool Between::compute(OrtKernelContext* context, lehr_error& error) const {
  Call call{api_, context, op_.kind};
  const Shape* shapes[2] = {&call.shapes[0], &call.shapes[1]};
  for (std::size_t i = 0; i < op_.inputs; ++i) {
    const OrtValue* input = nullptr;
    if (!succeeded(api_, ort::KernelContext_GetInput(api_, context, i, &input), error) ||
        !shape_of(api_, input, call.shapes[i], error))
      return false;
    error.text[0] = '\0';
    call.inputs[i] = static_cast<const std::uint16_t*>(data_of(api_, input, error));
    if (error.text[0] != '\0') return false;
  }
  OrtValue* output = nullptr;
  if (!output_shape(plan_, plan_.nodes[0], shapes, call.out, error) || !prepare(call, error) ||
      !succeeded(api_, ort::KernelContext_GetOutput(api_, context, 0, call.out.dims, call.out.rank, &output),
                 error))
    return false;
  if (call.units == 0) return true;
  call.output = static_cast<std::uint16_t*>(data_of(api_, output, error));
  if (call.output == nullptr) return false;
  call.run_all();
  if (call.no_memory) runtime::fail(&error, LEHR_NO_MEMORY, "there is no memory for its rows");
  return !call.no_memory;
}

// The work's units, and a pool's windows.
bool Between::prepare(Call& call, lehr_error& error) const {
  const Shape& image = call.shapes[0];
  const std::int64_t outputs = elements(call.out);
  if (outputs <= 0)
    return outputs == 0 || (runtime::fail(&error, LEHR_BAD_ARGUMENT, "its output is too large"), false);
  call.units = outputs;
  call.unit_bytes = 4;
  if (op_.kind == Kind::kRelu || (op_.kind == Kind::kAdd && image == call.shapes[1])) return true;
  if (op_.kind == Kind::kAdd) {
    const std::int64_t width = call.out.dims[call.out.rank - 1];
    call.units = outputs / width;
    call.unit_bytes = 4 * width;
    return true;
  }
  call.units = image.dims[0] * image.dims[1];
  call.unit_bytes = 2 * (elements(image) / call.units);
  if (op_.kind == Kind::kGlobalAveragePool) return true;
  if (image.rank > 4) {
    runtime::fail(&error, LEHR_BAD_ARGUMENT, "%s has images of more than 2 dimensions", op_.name);
    return false;
  }
  PlaneWindows& windows = call.windows;
  const std::size_t last = image.rank - 1;
  windows.counts_pads = plan_.int_of(plan_.nodes[0], "count_include_pad", 0) != 0;
  windows.width = image.dims[last];
  windows.out_width = call.out.dims[last];
  if (!pool_window(plan_, plan_.nodes[0], image, last, windows.along, error)) return false;
  if (image.rank == 4) {
    windows.height = image.dims[2];
    windows.out_height = call.out.dims[2];
    if (!pool_window(plan_, plan_.nodes[0], image, 2, windows.down, error)) return false;
  }
  if (windows.scratch_bytes() >= 0) return true;
  runtime::fail(&error, LEHR_BAD_ARGUMENT, "%s has windows that are too large", op_.name);
  return false;
}

}  // namespace lehr::onnxruntime
