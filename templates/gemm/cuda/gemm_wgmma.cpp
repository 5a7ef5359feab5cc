// Lowering of gemm_wgmma: barriers, the warpgroup that copies, the warpgroups that multiply, and C from
// registers.
#include "templates/gemm/cuda/gemm_wgmma.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "templates/family.h"
#include "templates/gemm/cuda/gemm_wgmma_copy.h"
#include "templates/gemm/cuda/gemm_wgmma_products.h"
#include "templates/gemm/cuda/gemm_wgmma_reduce.h"
#include "templates/gemm/cuda/gemm_wgmma_space.h"
#include "templates/gemm/cuda/gemm_wgmma_store.h"
#include "templates/gemm/cuda/gemm_wgmma_walk.h"
#include "templates/gemm/cuda/gemm_wgmma_write.h"
#include "templates/shared/cuda_common.h"
#include "templates/shared/product_view.h"

namespace lehr {
namespace {

using namespace ir;

constexpr std::int64_t kLargestTile = 512;  // largest block tile

using Place = GemmWgmmaWalk::Place;

class Lowering {
 public:
  Lowering(const Workload& workload, const GemmWgmmaSchedule& schedule, const Limits& limits)
      : p_(gemm_wgmma_problem(workload)),
        s_(schedule),
        grid_(gemm_wgmma_grid(p_, s_, limits)),
        walk_(b_, p_, s_, grid_) {
    b_.kernel.name = p_.family();
    b_.kernel.cluster = static_cast<int>(s_.reduce == 1 ? s_.split_k : s_.cluster());
    b_.kernel.programmatic = s_.pdl == 1;
    b_.kernel.target = Target::kCuda;
    b_.kernel.min_blocks_per_core = 1;
    rows_.tile = gemm_wgmma_tile(p_, s_, true);
    columns_.tile = gemm_wgmma_tile(p_, s_, false);
    add_params();
    epilogue_ = FusedEpilogue(b_, workload);
    rows_.shared = add_tile("row_tiles", rows_.tile);
    columns_.shared = add_tile("column_tiles", columns_.tile);
    full_ = b_.buffer("full", DType::kU32, Scope::kShared, 2 * s_.stages);
    empty_ = b_.buffer("empty", DType::kU32, Scope::kShared, 2 * s_.stages);
    if (s_.ping_pong == 1) turns_ = b_.buffer("turns", DType::kU32, Scope::kShared, 4);
    if (s_.staged()) {
      staged_ = add_aligned("c_tiles", p_.output, gemm_wgmma_stage(p_, s_).elements());
      if (s_.store == 3)
        b_.kernel.buffers.back().in_place_of = gemm_wgmma_c_takes_rows(s_) ? rows_.shared : columns_.shared;
    }
    acc_.accumulators = b_.buffer("acc", p_.accum, Scope::kRegister, s_.accumulators());
    if (has_first_level())
      acc_.first_level = b_.buffer("first_level", p_.accum, Scope::kRegister, s_.columns() / 2);
    if (p_.rows_from_registers())
      fragments_ = b_.buffer("fragments", DType::kU32, Scope::kRegister, gemm_wgmma_fragments(p_, s_));
    if (p_.output != p_.accum)
      converted_ = b_.buffer("converted", p_.output, Scope::kRegister, s_.stmatrix == 1 ? 8 : 2);
    if (s_.split_k > 1) {
      split_ = b_.var("split");
      exchange_ = gemm_wgmma_exchange(b_, p_, s_, grid_.tiles);
    }
    thread_ = b_.var("thread");
    group_ = b_.var("warpgroup");
  }

  Kernel kernel() {
    Block body = walk_.begin();
    append(body, block(Alloc{rows_.shared}, Alloc{columns_.shared}));
    if (s_.staged()) body.push_back(Alloc{staged_});
    append(body, block(Alloc{full_}, Alloc{empty_}));
    if (s_.split_k > 1) append(body, gemm_wgmma_exchange_allocs(exchange_));
    if (s_.ping_pong == 1) body.push_back(Alloc{turns_});
    Block first = prefetch_maps();
    append(first, make_barriers());
    body.push_back(If{eq(var(thread_), integer(0)), first, {}, 1});
    // No thread may use another block's barriers before they are initialised. The fence before this barrier
    // makes them visible to the cluster. Nothing else that a thread has written before is read afterwards.
    body.push_back(Barrier{s_.cluster() > 1 ? BarrierScope::kClusterRelaxed : BarrierScope::kBlock});
    // Everything before this point concerns only this block, so it may run while the previous launch is still
    // running. The loads wait for the end of that launch, because it may have written any of the operands. C
    // and the workspaces of split k are also accessed only after the wait: the previous launch has reset the
    // counters to zero by then. So each launch ends after the previous one, and the next launch may be
    // allowed to begin anywhere after this point.
    if (s_.pdl == 1) body.push_back(Intrinsic{"griddepcontrol_wait", {}, {}, 0});
    // Computed once per warp, not per lane. ptxas then knows that a warp does not diverge in the following
    // code, and computes there in uniform registers, from which wgmma and the loads take their descriptors.
    body.push_back(Let{group_, var(thread_) / 128, true});
    body.push_back(If{eq(var(group_), integer(0)), produce(), consume(), 128});
    // Barriers must not be used after their block has ended, either: a block waits until the arrivals at its
    // barriers have come.
    if (s_.cluster() > 1) body.push_back(Barrier{BarrierScope::kCluster});
    if (s_.split_k > 1)
      append(body, gemm_wgmma_meet(exchange_, sums_place(thread_), eq(var(thread_), integer(0)),
                                   block(write_total())));
    Block grid = block(loop(thread_, s_.threads(), LoopKind::kThreadX, body));
    if (s_.reduce == 1) {  // the parts of a tile are a cluster
      const VarId number = b_.var("block_of_part");
      grid.push_front(Let{split_, var(number) % s_.split_k});
      grid.push_front(Let{walk_.block(), var(number) / s_.split_k});
      b_.kernel.body = block(loop(number, grid_.blocks * s_.split_k, LoopKind::kBlockX, grid));
      return std::move(b_.kernel);
    }
    if (s_.split_k > 1) grid = block(loop(split_, s_.split_k, LoopKind::kBlockY, grid));
    b_.kernel.body = block(loop(walk_.block(), grid_.blocks, LoopKind::kBlockX, grid));
    return std::move(b_.kernel);
  }

 private:
  SplitK split() const { return gemm_wgmma_split_k(p_, s_); }
  /// Returns the maximum number of stages of k that a block multiplies for a tile.
  std::int64_t tiles_k() const { return split().most(); }
  bool has_first_level() const { return gemm_wgmma_has_first_level(p_, s_, tiles_k() == 1); }

  Stmt each_tile_k(VarId kt, LoopKind kind, Block body) const {
    const SplitK parts = split();
    if (parts.least() == parts.most()) return loop(kt, parts.most(), kind, body);
    return loop_to(kt, min(integer(parts.most()), integer(parts.tiles) - var(split_) * parts.most()),
                   parts.most(), body, kind);
  }

  /// Returns the position of a consumers' thread for the exchange of sums. `worker` is its number among the
  /// threads of all consumers.
  SplitKPlace sums_place(VarId worker) const { return {var(split_), var(walk_.block()), worker}; }

  /// Writes C from the sums of all parts of k, by the threads that hold sums.
  Stmt write_total() {
    const VarId turn = b_.var("turn");
    const VarId worker = b_.var("worker");
    const VarId consumer = b_.var("consumer");
    const VarId lane = b_.var("lane");
    Block body = block(Alloc{acc_.accumulators}, Alloc{exchange_.sums.part}, Let{worker, var(thread_) - 128},
                       Let{consumer, s_.consumers > 1 ? var(worker) / 128 : integer(0)},
                       Let{lane, var(thread_) % 32}, Let{turn, integer(0)});
    append(body, gemm_wgmma_total(b_, exchange_, sums_place(worker), acc_.accumulators));
    Place place = walk_.place(turn);
    append(body, place.lets);
    append(body, gemm_wgmma_write(b_, p_, s_, output(place, consumer, lane)));
    return If{lt(integer(0), var(thread_) / 128), body, {}, 128 * s_.consumers};
  }

  void add_params() {
    const ProductView& size = p_.size;
    // The parameters are the workload's a and b, in this order.
    const bool a_first = !size.swapped;
    BufferId of_a{}, of_b{};
    using Names = std::array<std::string_view, 3>;
    const Names names = p_.image ? Names{"x", "f", "y"} : Names{"a", "b", "c"};
    for (const bool a : {a_first, !a_first}) {
      (a ? of_a : of_b) =
          b_.param(a == a_first ? names[0] : names[1], p_.operand, p_.elements(a), Direction::kIn);
      const bool is_rows = a == (s_.swap_ab == 0);
      b_.kernel.params.back().map = gemm_wgmma_load_map(p_, is_rows ? rows_.tile : columns_.tile);
    }
    c_ = b_.param(names[2], p_.output, size.batch * size.m * size.output_columns(), Direction::kOut);
    if (s_.staged()) b_.kernel.params.back().map = gemm_wgmma_store_map(p_, s_);
    rows_.global = s_.swap_ab == 0 ? of_a : of_b;
    columns_.global = s_.swap_ab == 0 ? of_b : of_a;
  }

  BufferId add_tile(std::string_view name, const GemmWgmmaTile& tile) {
    return add_aligned(name, p_.operand, s_.stages * tile.stage_elements());
  }
  BufferId add_aligned(std::string_view name, DType type, std::int64_t elements) {
    const BufferId id = b_.buffer(name, type, Scope::kShared, elements);
    b_.kernel.buffers[static_cast<std::size_t>(id)].alignment = kGemmWgmmaTileAlignment;
    return id;
  }

  /// Returns an operation on one barrier.
  static Intrinsic on(StaticText name, BufferId buffer, Expr number, Expr argument) {
    return {name, {gemm_wgmma_barrier(buffer, number)}, {argument}, 0};
  }

  Block prefetch_maps() const {
    Block result;
    for (const Param& param : b_.kernel.params)
      if (param.map)
        result.push_back(
            Intrinsic{"tensor_map_prefetch", {Touch{param.buffer, integer(0), 0, false}}, {}, 0});
    return result;
  }

  /// Declares the barriers of the stages. A stage is full when its bytes have arrived. It is empty when all
  /// consumers that multiply it have finished, including the consumers of other blocks that receive slices of
  /// it from this block.
  Block make_barriers() {
    const Unrolled stage(b_, "stage", s_.stages);
    const std::int64_t consumers = speakers() * (s_.ping_pong == 1 ? 1 : s_.consumers) * s_.sharing_blocks();
    Block result = stage.over(block(on("mbarrier_init", full_, stage.at, integer(1)),
                                    on("mbarrier_init", empty_, stage.at, integer(consumers))));
    if (s_.ping_pong == 1) {
      const Unrolled consumer(b_, "consumer", 2);
      append(result, consumer.over(block(on("mbarrier_init", turns_, consumer.at, integer(4)))));
    }
    result.push_back(Intrinsic{"mbarrier_init_fence", {}, {}, 0});
    return result;
  }

  /// Returns the number of threads per consumer that report in release() that the consumer has finished a
  /// stage.
  std::int64_t speakers() const { return p_.rows_from_registers() ? 4 : 1; }

  Expr stage_of(const Expr& step) const { return step % s_.stages; }
  Expr round_of(const Expr& step) const { return step / s_.stages; }

  Block produce() {
    const VarId turn = b_.var("turn");
    const VarId kt = b_.var("kt");
    const VarId step = b_.var("step");
    const Place place = walk_.place(turn);
    Block body = place.lets;
    GemmWgmmaPixel pixel;
    append(body, gemm_wgmma_copy_begin(b_, p_, s_, walk_, place, pixel));
    Block copies =
        block(Let{step, var(turn) * tiles_k() + var(kt)},
              on("mbarrier_wait", empty_, stage_of(var(step)), (round_of(var(step)) + 1) % 2),
              on("mbarrier_expect_tx", full_, stage_of(var(step)),
                 integer((rows_.tile.stage_elements() + columns_.tile.stage_elements()) * p_.bytes())));
    const Expr k_tile = s_.split_k > 1 ? var(split_) * split().most() + var(kt) : var(kt);
    for (const bool is_rows : {true, false})
      append(copies, gemm_wgmma_copy(b_, p_, s_, walk_, is_rows ? rows_ : columns_, is_rows, place,
                                     {full_, k_tile, stage_of(var(step)), pixel}));
    // Not unrolled, even where k is short: the addresses would not fit into the few registers of the
    // producer.
    body.push_back(each_tile_k(kt, LoopKind::kRolled, copies));
    Block one = walk_.each(turn, integer(0), 1, body);
    // Only the block's last products and C remain. That leaves time for the next launch to initialise its
    // barriers.
    if (s_.pdl == 1) one.push_back(Intrinsic{"griddepcontrol_launch_dependents", {}, {}, 0});
    Block result = take_registers(false);
    append(result, gemm_wgmma_by_one(b_, eq(var(thread_) / 32, integer(0)), 1, one));
    return result;
  }

  Block take_registers(bool more) const {
    if (!gemm_wgmma_deals_registers(p_, s_)) return {};
    const GemmWgmmaRegisters registers = gemm_wgmma_registers(p_, s_);
    return block(Intrinsic{more ? StaticText("setmaxnreg_inc") : "setmaxnreg_dec",
                           {},
                           {integer(more ? registers.consumer : registers.producer)},
                           0});
  }

  Block consume() {
    const VarId consumer = b_.var("consumer");
    const VarId lane = b_.var("lane");
    const VarId turn = b_.var("turn");
    member_ = b_.var("member");
    Block result = take_registers(true);
    result.push_back(Alloc{acc_.accumulators});
    if (has_first_level()) result.push_back(Alloc{acc_.first_level});
    if (p_.rows_from_registers()) result.push_back(Alloc{fragments_});
    append(result, block(Let{consumer, s_.consumers > 1 ? var(group_) - 1 : integer(0)},
                         Let{lane, var(thread_) % 32}, Let{member_, var(thread_) % 128}));
    const bool in_turns = s_.ping_pong == 1;
    const Place place = walk_.place(turn);
    Block body;
    if (s_.split_k == 1) body = place.lets;
    // Waits until the other consumer has finished its previous tile. Before the first tile of the first
    // consumer there is no previous tile.
    if (in_turns)
      body.push_back(on("mbarrier_wait", turns_, var(consumer), (var(turn) / 2 + 1 - var(consumer)) % 2));
    append(body, multiply(var(turn) * tiles_k(), var(consumer)));
    if (in_turns)
      body.push_back(on("mbarrier_arrive", turns_, integer(1) - var(consumer), eq(var(lane), integer(0))));
    append(body, finish((var(turn) + 1) * tiles_k() - 1));
    const GemmWgmmaOutput out = output(place, consumer, lane);
    if (s_.split_k > 1) {
      const VarId worker = b_.var("worker");
      body.push_back(Let{worker, var(thread_) - 128});
      append(body, gemm_wgmma_leave(b_, exchange_, sums_place(worker), thread_, consumer, acc_.accumulators));
      append(result, walk_.each(turn, integer(0), 1, body));
      return result;
    }
    append(body, s_.staged() ? gemm_wgmma_store(b_, p_, s_, out, staged_, walk_.several_turns(), place.matrix)
                             : gemm_wgmma_write(b_, p_, s_, out));
    append(result, walk_.each(turn, in_turns ? var(consumer) : integer(0), in_turns ? 2 : 1, body));
    if (s_.staged()) append(result, gemm_wgmma_store_end(b_, s_, out));
    return result;
  }

  /// Sets the accumulators to the tile's sums over all stages. With in_flight = 1, the last stage is neither
  /// waited for nor released.
  Block multiply(const Expr& first_step, const Expr& consumer) {
    const VarId kt = b_.var("kt");
    const VarId step = b_.var("step");
    const VarId stage = b_.var("stage");
    Block body = block(Let{step, first_step + var(kt)}, Let{stage, stage_of(var(step))},
                       on("mbarrier_wait", full_, var(stage), round_of(var(step)) % 2));
    const Expr row = s_.ping_pong == 1 ? integer(0) : consumer * s_.consumer_rows();
    const GemmWgmmaOperands operands = {rows_,   columns_,     row,        var(stage),
                                        var(kt), var(member_), fragments_, tiles_k() == 1};
    if (p_.two_level) {
      append(body, gemm_wgmma_two_level_products(b_, p_, s_, acc_, operands));
    } else {
      append(body, gemm_wgmma_products(b_, p_, s_, acc_, operands));
      body.push_back(Intrinsic{"wgmma_wait", {}, {integer(s_.in_flight)}, 0});
    }
    if (s_.in_flight == 0) {
      body.push_back(release(var(stage), std::nullopt));
    } else {
      body.push_back(release((var(step) + (s_.stages - 1)) % s_.stages, lt(integer(0), var(kt))));
    }
    Block result;
    if (p_.two_level && tiles_k() > 1) result = gemm_wgmma_clear(b_, p_, s_, acc_);
    // Not unrolled with two levels of sums: otherwise partial sums would be added to zeros (see
    // gemm_wgmma_two_level_products()).
    result.push_back(each_tile_k(kt, p_.two_level ? LoopKind::kRolled : LoopKind::kSerial, body));
    return result;
  }

  /// Reports that the consumer has finished the stage, to all blocks that copy slices of it. Along bn, these
  /// are the blocks with rank ^ i in the cluster for i < cluster_bn; along bm, those with rank ^ cluster_bn j
  /// for j < cluster_bm (the cluster's extents are powers of two). Thread i of the consumer arrives at the
  /// barrier of the i-th of these blocks, in the order: its own block, the others along bn, the others along
  /// bm.
  ///
  /// One thread reports for its four warps. A wgmma-group belongs to the whole warpgroup (PTX ISA 9.0,
  /// "wgmma.commit_group"), and after wgmma.wait_group it is complete, with all that it reads. CUTLASS counts
  /// its consumers' arrivals in the same way (sm90_pipeline.hpp, PipelineTmaAsync). The arrival need not have
  /// release semantics: the stage was read by wgmma alone, and only the tensor memory accelerator ever writes
  /// to it. The reads must come before the writes of the next loads. Three things order them: the wait, the
  /// arrival, and the producer's wait for the phase, after which it starts the loads. No data go from the
  /// consumer to the producer. If rows come from registers, each warp has read its own rows of the stage, and
  /// reports for itself.
  Intrinsic release(Expr stage, const std::optional<Expr>& condition) const {
    const std::int64_t blocks = s_.sharing_blocks();
    const Expr member = speakers() == 1 ? var(member_) : var(member_) % 32;
    Expr tells = blocks == 1 ? eq(member, integer(0)) : lt(member, integer(blocks));
    if (condition) tells = logical_and(tells, *condition);
    if (blocks == 1) return on("mbarrier_arrive", empty_, stage, tells);
    // Right for the blocks along bm, too, if cluster_bm <= 2 or cluster_bn == 1.
    Expr which = member;
    if (s_.cluster_bn > 1 && s_.cluster_bm > 2)
      which = max(member, (member - (s_.cluster_bn - 1)) * s_.cluster_bn);
    return {"mbarrier_arrive_cluster",
            {gemm_wgmma_barrier(empty_, stage)},
            {bit_xor(walk_.rank(), which), tells},
            0};
  }

  Block finish(const Expr& last_step) {
    Block result;
    if (s_.in_flight == 1) {
      result.push_back(Intrinsic{"wgmma_wait", {}, {integer(0)}, 0});
      if (walk_.several_turns())  // otherwise that stage is not filled again
        result.push_back(release(stage_of(last_step), std::nullopt));
    }
    if (!p_.two_level) result.push_back(gemm_wgmma_keep(p_, acc_.accumulators, s_.accumulators()));
    return result;
  }

  GemmWgmmaOutput output(const Place& place, VarId consumer, VarId lane) const {
    GemmWgmmaOutput out{
        .accumulators = acc_.accumulators, .c = c_, .epilogue = epilogue_, .converted = converted_};
    out.thread = thread_;
    out.lane = lane;
    out.consumer = consumer;
    out.row0 = place.row0;
    out.column0 = place.column0;
    if (p_.size.batch > 1) out.base = place.matrix * (p_.size.m * p_.size.output_columns());
    return out;
  }

  GemmWgmmaProblem p_;
  GemmWgmmaSchedule s_;
  GemmWgmmaGrid grid_;
  KernelBuilder b_;
  GemmWgmmaWalk walk_;
  GemmWgmmaSide rows_, columns_;
  FusedEpilogue epilogue_;
  GemmWgmmaSums acc_;
  GemmWgmmaExchange exchange_;  ///< used with split_k > 1
  BufferId c_{}, full_{}, empty_{}, turns_{}, staged_{}, converted_{}, fragments_{};
  VarId thread_{}, split_{};
  VarId group_{};   ///< number of the warpgroup: 0 copies, the others multiply
  VarId member_{};  ///< number of a consumer's thread in its warpgroup
};

std::optional<std::string> why_not(const Workload& workload, const Limits& limits) {
  const Gemm& g = workload.gemm();
  if (auto reason = why_not_wgmma_operands(g, limits)) return reason;
  return cuda::why_no_indices(g, kLargestTile);
}

}  // namespace

Kernel lower_gemm_wgmma(const Workload& workload, const GemmWgmmaSchedule& schedule, const Limits& limits) {
  return Lowering(workload, schedule, limits).kernel();
}

Template gemm_wgmma_template() {
  return family<"gemm_wgmma", gemm_wgmma_knobs, gemm_wgmma_wanted, lower_gemm_wgmma>(
      {.version = 15,
       .target = Target::kCuda,
       .why_not = why_not,
       .op = Operator::kGemm,
       .reads = {"math", "alpha"}});
}

}  // namespace lehr
