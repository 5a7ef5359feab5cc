// The loop nest of one task:
//
//   for image / for blocks of rows of tiles
//     transform the tiles' inputs into `v`: one matrix of channels x tiles for each of the (m + 2)^2 products
//     for kb: blocks of output channels
//       for each of these matrices: output channels x tiles += filters x channels, into `sums`
//       transform the sums back, tile by tile, and store lines of y
//
// Vectors run over neighbouring tiles of a row. A transform along the columns of the image works on its lines
// as they lie; the one along the lines takes them apart first, so that a vector holds the same element of
// each tile.
#include "templates/conv2d_winograd_cpu.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "templates/conv2d_winograd_cpu_space.h"
#include "templates/cpu_common.h"
#include "templates/register_tile.h"
#include "templates/winograd.h"

namespace lehr {
namespace {

using namespace ir;
using cpu::ceil_div;

constexpr const char* kFamily = "conv2d_winograd_cpu";

struct Lowering {
  Lowering(const Conv2d& convolution, const WinogradCpuSchedule& schedule)
      : conv(convolution),
        s(schedule),
        tiles(winograd_tiles(convolution, schedule)),
        algorithm(winograd(schedule.tile)) {}

  Conv2d conv;
  WinogradCpuSchedule s;
  WinogradTiles tiles;
  const Winograd& algorithm;
  KernelBuilder builder;
  BufferId x{}, f{}, y{}, u{}, lines{}, v{}, sums{}, out_lines{};
  FusedEpilogue epilogue;
  VarId task{}, image{}, block{}, first_row{}, first_panel{};

  int lanes() const { return static_cast<int>(s.lanes); }
  std::int64_t inputs() const { return algorithm.inputs(); }
  std::int64_t products() const { return algorithm.products(); }
  Expr image_index() const { return conv.n == 1 ? integer(0) : var(image); }

  std::int64_t all_panels() const { return ceil_div(conv.k, s.mr); }
  std::int64_t task_panels() const { return s.split == 1 ? ceil_div(all_panels(), s.threads) : all_panels(); }
  std::int64_t block_panels() const { return std::min(s.panels, task_panels()); }
  std::int64_t block_channels() const { return block_panels() * s.mr; }
  std::int64_t task_rows() const { return s.split == 0 ? ceil_div(tiles.rows, s.threads) : tiles.rows; }

  // The part of `all` that the task has, if the tasks share it out.
  Expr begin_of(bool shared, std::int64_t all) const {
    return shared ? cpu::first_tile(var(task), all, s.threads) : integer(0);
  }
  Expr end_of(bool shared, std::int64_t all) const {
    return shared ? cpu::first_tile(var(task) + 1, all, s.threads) : integer(all);
  }
  // How many of a block of `most` from `first` on the task has.
  Expr now(bool shared, std::int64_t all, std::int64_t most, VarId first) const {
    const bool even = shared ? all % (s.threads * most) == 0 : all % most == 0;
    if (even) return integer(most);
    return max(min(integer(most), end_of(shared, all) - var(first)), integer(0));
  }
  Expr rows_now() const { return now(s.split == 0, tiles.rows, s.rows, first_row); }
  Expr panels_now() const { return now(s.split == 1, all_panels(), block_panels(), first_panel); }

  // The vector of tiles `group` of the block's row `row`, of product `product` and one of `channels`.
  Expr element(const Expr& product, std::int64_t channels, const Expr& channel, const Expr& row,
               const Expr& group) const {
    return (product * channels + channel) * tiles.room + row * tiles.columns + group * s.lanes;
  }
};

Stmt store_vector(const Lowering& l, BufferId to, Expr index, Expr value,
                  std::optional<Expr> active = std::nullopt) {
  return Store{to, std::move(index), std::move(value), l.lanes(), std::move(active)};
}

// B^T d: the lines of the image that one row of tiles needs, with zeros around.
Block transform_lines(Lowering& l, const Expr& channel, VarId row) {
  const Conv2d& conv = l.conv;
  const std::int64_t inputs = l.inputs();
  const VarId at = l.builder.var("in_v"), first = l.builder.var("in_first");
  const BufferId d = l.builder.buffer("d", DType::kF32, Scope::kRegister, inputs * l.s.lanes, l.lanes());
  const bool inside = conv.pad_top == 0 && l.tiles.rows * l.s.tile + 2 <= conv.h;
  const Expr column = var(at) * l.s.lanes;
  const Expr left = integer(conv.w) - column;
  Block body = block(Alloc{d});
  for (std::int64_t i = 0; i < inputs; ++i) {
    const Expr line = var(first) + i;
    const Expr plane = (l.image_index() * conv.c + channel) * conv.h;
    const Expr existing = inside ? line : min(max(line, integer(0)), integer(conv.h - 1));
    Expr count = left;
    if (!inside) count = logical_and(le(integer(0), line), lt(line, integer(conv.h))) * std::move(count);
    body.push_back(
        store_vector(l, d, integer(i * l.s.lanes),
                     load_active(l.x, (plane + existing) * conv.w + column, l.lanes(), std::move(count))));
  }
  for (std::int64_t i = 0; i < inputs; ++i) {
    const auto input = [&](std::size_t j) {
      return load(d, integer(static_cast<std::int64_t>(j) * l.s.lanes), l.lanes());
    };
    body.push_back(store_vector(l, l.lines, integer(i * l.tiles.line + conv.pad_left) + column,
                                combine(l.algorithm.input[static_cast<std::size_t>(i)], input, l.lanes())));
  }
  return block(Let{first, (var(l.first_row) + var(row)) * l.s.tile - conv.pad_top},
               loop(at, ceil_div(conv.w, l.s.lanes), LoopKind::kSerial, std::move(body)));
}

// (B^T d) B: each transformed line, taken apart so that a vector holds one element of neighbouring tiles.
Stmt transform_columns(Lowering& l, const Expr& channel, VarId row) {
  const std::int64_t inputs = l.inputs(), tile = l.s.tile;
  const VarId line = l.builder.var("in_line"), group = l.builder.var("in_group");
  const auto vectors = [&](std::string_view name) {
    return l.builder.buffer(name, DType::kF32, Scope::kRegister, tile * l.s.lanes, l.lanes());
  };
  const BufferId own = vectors("own"), next = vectors("next");
  const Expr from = var(line) * l.tiles.line + var(group) * (l.s.lanes * tile);
  const auto take_apart = [&](BufferId to, const Expr& at) {
    const std::int64_t elements = tile * l.s.lanes;
    return Stmt(Intrinsic{fmt::format("deinterleave{}_{}", tile, l.s.lanes),
                          {Touch{to, integer(0), elements, true}, Touch{l.lines, at, elements, false}},
                          {},
                          0});
  };
  Block body = block(Alloc{own}, Alloc{next}, take_apart(own, from), take_apart(next, from + tile));
  const auto input = [&](std::size_t j) {
    const auto at = static_cast<std::int64_t>(j);
    return load(at < tile ? own : next, integer(at % tile * l.s.lanes), l.lanes());
  };
  for (std::int64_t j = 0; j < inputs; ++j)
    body.push_back(store_vector(l, l.v,
                                l.element(var(line) * inputs + j, l.conv.c, channel, var(row), var(group)),
                                combine(l.algorithm.input[static_cast<std::size_t>(j)], input, l.lanes())));
  return loop(line, inputs, LoopKind::kSerial,
              block(loop(group, l.tiles.groups, LoopKind::kSerial, std::move(body))));
}

Stmt transform_inputs(Lowering& l) {
  const VarId channel = l.builder.var("in_c"), row = l.builder.var("in_row");
  Block body = transform_lines(l, var(channel), row);
  body.push_back(transform_columns(l, var(channel), row));
  return loop(channel, l.conv.c, LoopKind::kSerial,
              block(loop_to(row, l.rows_now(), l.s.rows, std::move(body))));
}

// For each product of a tile: output channels x tiles, over all input channels.
Stmt multiply(Lowering& l) {
  const std::int64_t width = l.s.nv * l.s.lanes, channels = l.conv.c;
  cpu::RegisterTile tile(l.builder, l.s.mr, width, l.s.lanes);
  const VarId product = l.builder.var("product"), panel = l.builder.var("panel"), jt = l.builder.var("jt"),
              c = l.builder.var("c");
  const auto v_at = [&](Expr column) {
    return (var(product) * channels + var(c)) * l.tiles.room + var(jt) * width + std::move(column);
  };
  const auto sum_at = [&](Expr column) {
    return (var(product) * l.block_channels() + var(panel) * l.s.mr + tile.row()) * l.tiles.room +
           var(jt) * width + std::move(column);
  };
  const Expr filter =
      (((var(l.first_panel) + var(panel)) * l.products() + var(product)) * channels + var(c)) * l.s.mr +
      tile.row();
  Block step = block(tile.allocate_b());
  Block row = tile.load_b(l.v, v_at, false);
  std::move(row.begin(), row.end(), std::back_inserter(step));
  step.push_back(tile.multiply_add(load(l.u, filter)));
  Block body = block(tile.allocate(), tile.clear(), loop(c, channels, LoopKind::kSerial, std::move(step)),
                     tile.store_c(l.sums, sum_at));

  const Expr used = (l.rows_now() * l.tiles.columns + (width - 1)) / width;
  const auto over_tiles = [&](Block b) {
    return loop_to(jt, used, ceil_div(l.s.rows * l.tiles.columns, width), std::move(b));
  };
  const auto over_panels = [&](Block b) {
    return loop_to(panel, l.panels_now(), l.block_panels(), std::move(b));
  };
  Stmt all = l.s.order == 0 ? over_tiles(block(over_panels(std::move(body))))
                            : over_panels(block(over_tiles(std::move(body))));
  return loop(product, l.products(), LoopKind::kSerial, block(std::move(all)));
}

// A^T m A of one vector of tiles, put together to lines of the output.
Block transform_sums(Lowering& l, const Expr& channel, const Expr& row, VarId group) {
  const std::int64_t inputs = l.inputs(), tile = l.s.tile, lanes = l.s.lanes;
  const auto vectors = [&](std::string_view name, std::int64_t count) {
    return l.builder.buffer(name, DType::kF32, Scope::kRegister, count * lanes, l.lanes());
  };
  const auto at = [&](BufferId buffer, std::int64_t vector) {
    return load(buffer, integer(vector * lanes), l.lanes());
  };
  const BufferId half = vectors("half", tile * inputs);
  Block result = block(Alloc{half});
  for (std::int64_t j = 0; j < inputs; ++j) {
    const BufferId column = vectors("column", inputs);
    result.push_back(Alloc{column});
    for (std::int64_t i = 0; i < inputs; ++i) {
      const Expr sum = l.element(integer(i * inputs + j), l.block_channels(), channel, row, var(group));
      result.push_back(store_vector(l, column, integer(i * lanes), load(l.sums, sum, l.lanes())));
    }
    for (std::int64_t i = 0; i < tile; ++i)
      result.push_back(store_vector(
          l, half, integer((i * inputs + j) * lanes),
          combine(
              l.algorithm.output[static_cast<std::size_t>(i)],
              [&](std::size_t q) { return at(column, static_cast<std::int64_t>(q)); }, l.lanes())));
  }
  for (std::int64_t i = 0; i < tile; ++i) {
    const BufferId outputs = vectors("outputs", tile);
    result.push_back(Alloc{outputs});
    for (std::int64_t j = 0; j < tile; ++j)
      result.push_back(
          store_vector(l, outputs, integer(j * lanes),
                       combine(
                           l.algorithm.output[static_cast<std::size_t>(j)],
                           [&](std::size_t q) { return at(half, i * inputs + static_cast<std::int64_t>(q)); },
                           l.lanes())));
    const Expr to = integer(i * l.tiles.groups * lanes * tile) + var(group) * (lanes * tile);
    result.push_back(Intrinsic{
        fmt::format("interleave{}_{}", tile, lanes),
        {Touch{l.out_lines, to, tile * lanes, true}, Touch{outputs, integer(0), tile * lanes, false}},
        {},
        0});
  }
  return result;
}

Stmt transform_outputs(Lowering& l) {
  const Conv2d& conv = l.conv;
  const VarId channel = l.builder.var("out_c"), row = l.builder.var("out_row"),
              group = l.builder.var("out_group"), line = l.builder.var("out_line"),
              y = l.builder.var("out_y"), at = l.builder.var("out_v");
  Block body =
      block(loop(group, l.tiles.groups, LoopKind::kSerial, transform_sums(l, var(channel), var(row), group)));

  const Expr filter = var(l.first_panel) * l.s.mr + var(channel);
  const Expr column = var(at) * l.s.lanes;
  const Expr target = ((l.image_index() * conv.k + filter) * conv.out_h() + var(y)) * conv.out_w() + column;
  const Expr left = integer(conv.out_w()) - column;
  Expr value = load(l.out_lines, var(line) * (l.tiles.groups * l.s.lanes * l.s.tile) + column, l.lanes());
  Block move = block(loop(
      at, ceil_div(conv.out_w(), l.s.lanes), LoopKind::kSerial,
      block(store_vector(l, l.y, target,
                         l.epilogue.of(std::move(value), {filter, false, target, l.lanes(), left}), left))));
  if (conv.out_h() % l.s.tile != 0) move = block(If{lt(var(y), integer(conv.out_h())), std::move(move), {}});
  move.insert(move.begin(), Let{y, (var(l.first_row) + var(row)) * l.s.tile + var(line)});
  body.push_back(loop(line, l.s.tile, LoopKind::kSerial, std::move(move)));

  Expr channels = l.panels_now() * l.s.mr;
  if (conv.k % l.s.mr != 0)
    channels = min(std::move(channels), integer(conv.k) - var(l.first_panel) * l.s.mr);
  return loop_to(channel, std::move(channels), l.block_channels(),
                 block(loop_to(row, l.rows_now(), l.s.rows, std::move(body))));
}

// G g G^T of all filters, as the micro-kernels read them: [panel][product][channel][filter of the panel].
Block transform_filters(Lowering& l) {
  const std::int64_t inputs = l.inputs(), channels = l.conv.c;
  const VarId panel = l.builder.var("u_panel"), c = l.builder.var("u_c"), r = l.builder.var("u_filter"),
              filter = l.builder.var("u_k"), product = l.builder.var("u_product");
  const BufferId half = l.builder.buffer("g_half", DType::kF32, Scope::kRegister, inputs * 3);
  const auto u_at = [&](const Expr& of) {
    return ((var(panel) * l.products() + of) * channels + var(c)) * l.s.mr + var(r);
  };
  Block body = block(Alloc{half});
  for (std::int64_t i = 0; i < inputs; ++i)
    for (std::int64_t j = 0; j < 3; ++j) {
      const auto tap = [&](std::size_t q) {
        return load(l.f, (var(filter) * channels + var(c)) * 9 + (static_cast<std::int64_t>(q) * 3 + j));
      };
      body.push_back(Store{half, integer(i * 3 + j),
                           combine(l.algorithm.filter[static_cast<std::size_t>(i)], tap, 1), 1,
                           std::nullopt});
    }
  for (std::int64_t i = 0; i < inputs; ++i)
    for (std::int64_t j = 0; j < inputs; ++j) {
      const auto value = [&](std::size_t q) {
        return load(half, integer(i * 3 + static_cast<std::int64_t>(q)));
      };
      body.push_back(Store{l.u, u_at(integer(i * inputs + j)),
                           combine(l.algorithm.filter[static_cast<std::size_t>(j)], value, 1), 1,
                           std::nullopt});
    }
  if (l.conv.k % l.s.mr != 0) {
    Block nothing =
        block(loop(product, l.products(), LoopKind::kSerial,
                   block(Store{l.u, u_at(var(product)), Float{0, DType::kF32}, 1, std::nullopt})));
    body = block(If{lt(var(filter), integer(l.conv.k)), std::move(body), std::move(nothing)});
  }
  body.insert(body.begin(), Let{filter, var(panel) * l.s.mr + var(r)});
  return block(loop(panel, l.all_panels(), LoopKind::kParallel,
                    block(loop(c, channels, LoopKind::kSerial,
                               block(loop(r, l.s.mr, LoopKind::kSerial, std::move(body)))))));
}

Kernel lower_winograd(const Workload& workload, const Config& config, const Limits&) {
  const Conv2d& conv = workload.conv2d();
  Lowering l(conv, winograd_cpu_schedule(config));
  KernelBuilder& builder = l.builder;
  builder.kernel.name = kFamily;
  builder.kernel.target = Target::kCpu;
  l.x = builder.param("x", DType::kF32, conv.n * conv.c * conv.h * conv.w, Direction::kIn);
  l.f = builder.param("f", DType::kF32, conv.k * conv.products(), Direction::kIn);
  l.y = builder.param("y", DType::kF32, conv.n * conv.k * conv.out_h() * conv.out_w(), Direction::kOut);
  l.epilogue = FusedEpilogue(builder, workload);
  l.u =
      builder.param("u", DType::kF32, l.all_panels() * l.s.mr * l.products() * conv.c, Direction::kPrepacked);
  const auto scratch = [&](std::string_view name, std::int64_t elements) {
    return builder.buffer(name, DType::kF32, Scope::kScratch, elements);
  };
  const std::int64_t lines = l.inputs() * l.tiles.line;
  l.lines = scratch("lines", lines);
  l.v = scratch("v", l.products() * conv.c * l.tiles.room);
  l.sums = scratch("sums", l.products() * l.block_channels() * l.tiles.room);
  l.out_lines = scratch("out_lines", l.s.tile * l.tiles.groups * l.s.lanes * l.s.tile);
  l.task = builder.var("task_index");
  l.image = builder.var("image");
  l.block = builder.var("block");
  l.first_row = builder.var("first_row");
  l.first_panel = builder.var("first_panel");
  const VarId kb = builder.var("kb"), zero_v = builder.var("zero_v");

  Block channels =
      block(Let{l.first_panel, l.begin_of(l.s.split == 1, l.all_panels()) + var(kb) * l.block_panels()},
            multiply(l), transform_outputs(l));
  Block body =
      block(Let{l.first_row, l.begin_of(l.s.split == 0, l.tiles.rows) + var(l.block) * l.s.rows},
            transform_inputs(l),
            loop(kb, ceil_div(l.task_panels(), l.block_panels()), LoopKind::kSerial, std::move(channels)));
  body = block(loop(l.block, ceil_div(l.task_rows(), l.s.rows), LoopKind::kSerial, std::move(body)));
  body = cpu::over_parts(conv.n, l.s.split == 2, l.image, l.task, std::move(body));
  // Left and right of the image the lines stay zero: nothing else is written there.
  body.insert(body.begin(),
              loop(zero_v, lines / l.s.lanes, LoopKind::kSerial,
                   block(store_vector(l, l.lines, var(zero_v) * l.s.lanes, zero(DType::kF32, l.lanes())))));
  for (const BufferId buffer : {l.out_lines, l.sums, l.v, l.lines}) body.insert(body.begin(), Alloc{buffer});
  const std::int64_t tasks = l.s.split == 2 ? conv.n : l.s.threads;
  builder.kernel.body = block(loop(l.task, tasks, LoopKind::kParallel, std::move(body)));
  builder.kernel.prepack = transform_filters(l);
  return std::move(builder.kernel);
}

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  if (auto reason = cpu::why_not_cpu(workload, limits)) return reason;
  const Conv2d& conv = workload.conv2d();
  if (!winograd_applies(conv)) return "made for 3x3 filters without stride, dilation and groups";
  if (conv.layout != ImageLayout::kNchw) return "reads images as nchw only";
  return std::nullopt;
}

}  // namespace

Template conv2d_winograd_cpu_template() {
  return {kFamily, 1, why_not, winograd_cpu_space, lower_winograd, winograd_cpu_default, Operator::kConv2d};
}

}  // namespace lehr
