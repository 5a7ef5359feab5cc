// A stand-in for libcudnn.so.9, built as a shared object for tests: keeps what is set of each descriptor, and
// computes on the host exactly what a graph of them says, on the fake driver's stream. Only what
// measure/vendor/cudnn/cudnn.cpp calls exists; only attributes that measure/vendor/cudnn/cudnn_plan.cpp may
// use are taken, and only in their own types. Numbers as in cudnn_graph.h of cuDNN 9.
#include "fake_cudnn.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "fake_cuda.h"
#include "fake_cudnn_attributes.h"
#include "fake_elements.h"

namespace {

using namespace fake;

constexpr int kBadParameter = 2000;
constexpr int kNotFinalized = 2004;
constexpr int kNotSupported = 3000;
constexpr int kExecutionFailed = 5000;

struct Descriptor {
  int kind = 0;
  bool finalized = false;
  std::map<int, std::vector<unsigned char>> attributes;
  const Descriptor* graph = nullptr;  ///< of a config and what comes of it
  std::size_t plan = 0;

  template <typename T>
  std::vector<T> all(int attribute) const {
    const std::vector<unsigned char>& bytes = attributes.at(attribute);
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  template <typename T>
  T one(int attribute) const {
    return all<T>(attribute).at(0);
  }
  const Descriptor& other(int attribute) const { return *one<const Descriptor*>(attribute); }
  bool has(int attribute) const { return attributes.contains(attribute); }
};

struct State {
  std::vector<FakePlan> plans = {FakePlan{}};
  FakeDnnCounts counts;
  std::set<std::pair<std::size_t, const Descriptor*>> loaded;  ///< plan and graph that ran before
  std::string last_error;
};
State& state() {
  static State state;
  return state;
}

int refuse(int code, std::string why) {
  state().last_error = std::move(why);
  return code;
}

/// Returns the cudaDataType of a cudnnDataType_t.
int element_type(int type) {
  static const std::map<int, int> types = {{0, kF32}, {1, kF64},  {2, kF16},   {3, kS8},
                                           {4, kS32}, {9, kBF16}, {12, kE4M3}, {13, kE5M2}};
  return types.at(type);
}

/// A tensor while a graph runs: virtual ones have values, the others memory.
struct Values {
  std::array<std::int64_t, 4> extents{}, strides{};
  int type = 0;
  unsigned char* memory = nullptr;
  std::vector<double> kept;

  std::int64_t at(std::array<std::int64_t, 4> index) const {
    std::int64_t offset = 0;
    for (std::size_t i = 0; i < 4; ++i) offset += (extents[i] == 1 ? 0 : index[i]) * strides[i];
    return offset;
  }
  double get(const std::array<std::int64_t, 4>& index) const {
    const std::int64_t offset = at(index);
    return memory ? load(type, memory + offset * size_of(type)) : kept[static_cast<std::size_t>(offset)];
  }
  void set(const std::array<std::int64_t, 4>& index, double value) {
    const std::int64_t offset = at(index);
    if (memory) return store(type, value, memory + offset * size_of(type));
    kept[static_cast<std::size_t>(offset)] = value;
  }
  template <typename F>
  void each(const F& f) {
    for (std::int64_t n = 0; n < extents[0]; ++n)
      for (std::int64_t c = 0; c < extents[1]; ++c)
        for (std::int64_t h = 0; h < extents[2]; ++h)
          for (std::int64_t w = 0; w < extents[3]; ++w) f(std::array{n, c, h, w});
  }
};

class Run {
 public:
  Run(const Descriptor& graph, std::map<std::int64_t, unsigned char*> memory, bool wrong)
      : memory_(std::move(memory)), wrong_(wrong) {
    for (const Descriptor* operation : graph.all<const Descriptor*>(801)) operations_.push_back(*operation);
    for (const Descriptor& operation : operations_)
      for (const int attribute : {703, 704, 705, 751, 752, 753})
        if (operation.has(attribute)) know(operation.other(attribute));
    for (const Descriptor& operation : operations_)
      parts_.push_back(operation.other(operation.kind == 10 ? 702 : 750));
  }
  void operator()() {
    for (std::size_t i = 0; i < operations_.size(); ++i)
      operations_[i].kind == 10 ? convolve(operations_[i], parts_[i]) : pointwise(operations_[i], parts_[i]);
  }

 private:
  void know(const Descriptor& tensor) {
    Values values;
    const auto extents = tensor.all<std::int64_t>(902), strides = tensor.all<std::int64_t>(903);
    std::copy(extents.begin(), extents.end(), values.extents.begin());
    std::copy(strides.begin(), strides.end(), values.strides.begin());
    values.type = element_type(tensor.one<int>(901));
    const auto id = tensor.one<std::int64_t>(906);
    if (tensor.one<unsigned char>(907) != 0)
      values.kept.resize(static_cast<std::size_t>(extents[0] * extents[1] * extents[2] * extents[3]));
    else
      values.memory = memory_.at(id);
    ids_[&tensor] = id;
    tensors_[id] = std::move(values);
  }
  Values& tensor(const Descriptor& operation, int attribute) {
    return tensors_.at(ids_.at(&operation.other(attribute)));
  }

  void convolve(const Descriptor& operation, const Descriptor& part) {
    Values &x = tensor(operation, 704), &f = tensor(operation, 703), &y = tensor(operation, 705);
    const auto dilation = part.all<std::int64_t>(102), stride = part.all<std::int64_t>(103),
               before = part.all<std::int64_t>(105);
    const std::int64_t per_group = f.extents[1], groups = x.extents[1] / per_group;
    y.each([&](const std::array<std::int64_t, 4>& index) {
      const auto [n, k, oy, ox] = index;
      const std::int64_t group = k / (f.extents[0] / groups);
      double sum = 0;
      for (std::int64_t c = 0; c < per_group - (wrong_ ? 1 : 0); ++c) {
        for (std::int64_t r = 0; r < f.extents[2]; ++r) {
          for (std::int64_t s = 0; s < f.extents[3]; ++s) {
            const std::int64_t iy = oy * stride[0] + r * dilation[0] - before[0];
            const std::int64_t ix = ox * stride[1] + s * dilation[1] - before[1];
            if (iy < 0 || ix < 0 || iy >= x.extents[2] || ix >= x.extents[3]) continue;
            sum += x.get({n, group * per_group + c, iy, ix}) * f.get({k, c, r, s});
          }
        }
      }
      y.set(index, sum);
    });
  }

  void pointwise(const Descriptor& operation, const Descriptor& part) {
    Values &x = tensor(operation, 751), &y = tensor(operation, 753);
    Values* b = operation.has(752) ? &tensor(operation, 752) : nullptr;
    const int mode = part.one<int>(0);
    y.each([&](const std::array<std::int64_t, 4>& index) {
      const double value = x.get(index), other = b ? b->get(index) : 0;
      double result = 0;
      if (mode == 0) result = value + other;
      if (mode == 1) result = value * other;
      if (mode == 100) {
        result = std::max(value, part.has(3) ? part.one<double>(3) : 0);
        if (part.has(4)) result = std::min(result, part.one<double>(4));
      }
      if (mode == 101) result = std::tanh(value);
      if (mode == 102) result = 1 / (1 + std::exp(-value));
      if (mode == 104) result = value * 0.5 * std::erfc(-value / std::sqrt(2.0));
      if (mode == 106) result = value / (1 + std::exp(-value));
      if (mode == 107)
        result =
            0.5 * value * (1 + std::tanh(0.7978845608028654 * (value + 0.044715 * value * value * value)));
      y.set(index, result);
    });
  }

  std::map<std::int64_t, unsigned char*> memory_;
  bool wrong_;
  std::vector<Descriptor> operations_, parts_;
  std::map<const Descriptor*, std::int64_t> ids_;
  std::map<std::int64_t, Values> tensors_;
};

/// Makes a config for plan `plan` of `graph`.
void make_config(Descriptor& config, const Descriptor* graph, std::size_t plan) {
  config.graph = graph;
  config.plan = plan;
  config.finalized = true;
}

int give(std::int64_t room, std::int64_t* count, void* to, const void* from, std::size_t bytes,
         std::int64_t elements) {
  if (count) *count = elements;
  if (room >= elements && elements > 0) std::memcpy(to, from, bytes * static_cast<std::size_t>(elements));
  return 0;
}

}  // namespace

#define EXPORT extern "C" __attribute__((visibility("default")))

/// For tests.
EXPORT void fake_cudnn_reset(const std::vector<FakePlan>* plans) {
  state() = State();
  state().plans = *plans;
}
EXPORT const FakeDnnCounts* fake_cudnn_counts() {
  return &state().counts;
}

EXPORT int cudnnCreate(void** handle) {
  *handle = new int(0);
  ++state().counts.objects;
  return 0;
}
EXPORT int cudnnDestroy(void* handle) {
  delete static_cast<int*>(handle);
  --state().counts.objects;
  return 0;
}
EXPORT int cudnnSetStream(void* handle, void* stream) {
  return handle && stream ? 0 : kBadParameter;
}
EXPORT std::size_t cudnnGetVersion() {
  return 91900;
}
EXPORT const char* cudnnGetErrorString(int status) {
  return status == kNotSupported ? "CUDNN_STATUS_NOT_SUPPORTED" : "CUDNN_STATUS_OTHER";
}
EXPORT void cudnnGetLastErrorString(char* to, std::size_t bytes) {
  std::strncpy(to, state().last_error.c_str(), bytes - 1);
  to[bytes - 1] = 0;
}

EXPORT int cudnnBackendCreateDescriptor(int kind, void** descriptor) {
  if (!kKinds.contains(kind)) return refuse(kBadParameter, "unknown kind");
  auto made = std::make_unique<Descriptor>();
  made->kind = kind;
  *descriptor = made.release();
  ++state().counts.objects;
  return 0;
}
EXPORT int cudnnBackendDestroyDescriptor(void* descriptor) {
  delete static_cast<Descriptor*>(descriptor);
  --state().counts.objects;
  return 0;
}
EXPORT int cudnnBackendSetAttribute(void* descriptor, int attribute, int type, std::int64_t count,
                                    const void* elements) {
  Descriptor& d = *static_cast<Descriptor*>(descriptor);
  const auto& known = kKinds.at(d.kind);
  const auto found = known.find(attribute);
  if (d.finalized || found == known.end() || found->second.type != type ||
      (found->second.count != 0 && found->second.count != count))
    return refuse(kBadParameter, "no such attribute");
  const auto* from = static_cast<const unsigned char*>(elements);
  d.attributes[attribute].assign(from, from + kBytes.at(type) * static_cast<std::size_t>(count));
  if (type != kDescriptor) return 0;
  for (const Descriptor* other : d.all<const Descriptor*>(attribute))
    if (!other->finalized) return refuse(kNotFinalized, "not finalized");
  return 0;
}
EXPORT int cudnnBackendFinalize(void* descriptor) {
  Descriptor& d = *static_cast<Descriptor*>(descriptor);
  for (const auto& [attribute, rule] : kKinds.at(d.kind))
    if (!rule.optional && !d.has(attribute)) return refuse(kBadParameter, "an attribute is missing");
  if (d.kind == 17 && d.one<std::int64_t>(900) != 256) return refuse(kBadParameter, "alignment");
  if (d.kind == 5) {
    d.graph = d.other(401).graph;
    d.plan = d.other(401).plan;
    if (state().plans[d.plan].refused) return refuse(kNotSupported, "this plan cannot be built");
  }
  d.finalized = true;
  return 0;
}
EXPORT int cudnnBackendGetAttribute(void* descriptor, int attribute, int, std::int64_t room,
                                    std::int64_t* count, void* elements) {
  Descriptor& d = *static_cast<Descriptor*>(descriptor);
  const std::vector<FakePlan>& plans = state().plans;
  if (!d.finalized && attribute != 1301 && attribute != 1303) return refuse(kNotFinalized, "not finalized");
  switch (attribute) {
    case 202: {  // a heuristic's answers, into configs that exist
      std::int64_t answers = 0;
      for (std::size_t i = 0; i < plans.size(); ++i) {
        if (std::ranges::count(plans[i].heuristics, d.one<int>(200)) == 0) continue;
        if (answers < room) make_config(*static_cast<Descriptor**>(elements)[answers], &d.other(201), i);
        ++answers;
      }
      *count = answers;
      return 0;
    }
    case 300:  // a config's engine
      (*static_cast<Descriptor**>(elements))->plan = d.plan;
      *count = 1;
      return 0;
    case 302:  // its knobs
      return *count = 0, 0;
    case 402:
      return give(room, count, elements, &plans[d.plan].workspace_bytes, 8, 1);
    case 1301: {
      const auto engine = static_cast<std::int64_t>(d.plan);
      return give(room, count, elements, &engine, 8, 1);
    }
    case 1303:
      return give(room, count, elements, plans[d.plan].notes.data(), 4, std::ssize(plans[d.plan].notes));
    default:
      return refuse(kBadParameter, "no such attribute");
  }
}
EXPORT int cudnnBackendExecute(void* handle, void* plan, void* pack) {
  const Descriptor &p = *static_cast<Descriptor*>(plan), &v = *static_cast<Descriptor*>(pack);
  if (!handle || !p.finalized || !v.finalized) return refuse(kNotFinalized, "not finalized");
  const FakePlan& chosen = state().plans[p.plan];
  const auto operations = p.graph->all<const Descriptor*>(801);
  const bool convolves = operations[0]->kind == 10;
  auto* workspace = v.one<unsigned char*>(1003);
  if (chosen.workspace_bytes > 0 && !workspace) return refuse(kBadParameter, "no workspace");
  if (chosen.fails) return refuse(kExecutionFailed, "it does not run");
  // As the real library: a kernel is loaded at its first call, which a capture does not allow.
  if (state().loaded.insert({p.plan, p.graph}).second && fake_cuda_capturing()) {
    ++state().counts.first_calls_in_capture;
    return refuse(kExecutionFailed, "first call in a capture");
  }
  const auto ids = v.all<std::int64_t>(1000);
  const auto pointers = v.all<unsigned char*>(1001);
  std::map<std::int64_t, unsigned char*> memory;
  for (std::size_t i = 0; i < ids.size(); ++i) memory[ids[i]] = pointers.at(i);
  state().counts.graphs +=
      (convolves ? "conv+" : "pointwise+") + std::to_string(operations.size() - (convolves ? 1 : 0)) + " ";
  const auto spoilt = static_cast<std::size_t>(std::min<std::int64_t>(chosen.workspace_bytes, 4096));
  const auto run = std::make_shared<Run>(*p.graph, std::move(memory), chosen.wrong);
  fake_cuda_submit(
      [=] {
        if (spoilt > 0) std::memset(workspace, 0x77, spoilt);
        (*run)();
      },
      convolves ? chosen.us : chosen.pointwise_us);
  return 0;
}
