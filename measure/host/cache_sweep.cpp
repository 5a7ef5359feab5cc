#include "measure/host/cache_sweep.h"

#include <thread>

#include "measure/host/cpu_device.h"
#include "measure/system/affinity.h"

namespace lehr {

CacheSweep::CacheSweep(bool cold, const HostBuffers& buffers) {
  if (!cold) return;
  bytes_.assign(static_cast<std::size_t>(2 * cpu_device(0, false).limits.l3_bytes), '\1');
  fresh_ = buffers.fresh();
}

void CacheSweep::sweep(std::size_t share, std::size_t shares) {
  const std::size_t size = bytes_.size() / shares;
  volatile char* const at = bytes_.data() + share * size;
  for (std::size_t i = 0; i < size; i += 64) at[i] = static_cast<char>(at[i] + 1);
}

void CacheSweep::read_fresh(std::size_t share, std::size_t shares) const {
  for (const FreshBytes& each : fresh_) {
    const std::size_t size = each.size / shares;
    const volatile unsigned char* const at = each.data + share * size;
    for (std::size_t i = 0; i < size; i += 64) static_cast<void>(at[i]);
  }
}

std::function<void()> CacheSweep::on(PinnedThreads& threads) {
  if (bytes_.empty()) return {};
  // Each thread sweeps a part of the memory, so that the private caches of all cores lose the kernel's data,
  // too.
  struct Call {
    CacheSweep& self;
    std::size_t count;
  };
  return [this, &threads] {
    Call call = {*this, static_cast<std::size_t>(threads.count())};
    const auto on_all = [&](PinnedThreads::Body body) { threads.run(threads.count(), body, &call); };
    on_all([](void* given, int, long work_item) {
      const Call& all = *static_cast<const Call*>(given);
      all.self.sweep(static_cast<std::size_t>(work_item), all.count);
    });
    on_all([](void* given, int, long work_item) {
      const Call& all = *static_cast<const Call*>(given);
      all.self.read_fresh(static_cast<std::size_t>(work_item), all.count);
    });
  };
}

std::function<void()> CacheSweep::beside(int threads) {
  if (bytes_.empty()) return {};
  if (threads <= 1)
    return [this] {
      sweep(0, 1);
      read_fresh(0, 1);
    };
  return [this, cpus = allowed_cpus()] {
    std::vector<std::thread> sweepers;
    for (std::size_t i = 0; i < cpus.size(); ++i)
      sweepers.emplace_back([this, &cpus, i] {
        pin_to_cpus({cpus[i]});
        sweep(i, cpus.size());
      });
    for (std::thread& each : sweepers) each.join();
    read_fresh(0, 1);
  };
}

}  // namespace lehr
