// SPDX-License-Identifier: Apache-2.0
#include "tools/happens_before.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "platform/sanitizers.h"
#include "runtime/state.h"

namespace kernkit::simulator::ptx {
namespace {

/// An actor of the happens-before order: a host thread, or work of a stream.
struct Actor {
  WorkClock acquired;
  WorkId work;
  uint64_t previous = 0,
           by_others = 0;  // results of previous_work() and acquired_by_other_streams()
};

struct OrderState {
  std::mutex mutex;
  std::map<const void*, WorkClock> released;
  std::map<const void*, uint64_t> last;  // number of the last work of each stream
  // The work that any host thread waited for. All host threads share this clock, since their
  // creation and their waits for each other are not recorded.
  WorkClock of_host;
  uint64_t works = 0;
};
OrderState& order() {
  static auto& all = *new OrderState;  // never destroyed, since streams may still run
  return all;
}
// Returns the stack of this thread's actors, of which the last is active. Streams still run at the
// end of the process, after the thread-local objects of the main thread were destroyed; a new stack
// is then created and never destroyed.
std::vector<Actor>& actors() {
  thread_local std::vector<Actor>* all = nullptr;
  if (all == nullptr) {
    all = new std::vector<Actor>(1);
    struct Owner {
      std::vector<Actor>** owned;
      ~Owner() {
        delete *owned;
        *owned = nullptr;
      }
    };
    thread_local const Owner owner{&all};
  }
  // The analyzer destroys `owner` at the end of its scope instead of the end of the thread.
  return *all;  // NOLINT(clang-analyzer-core.uninitialized.UndefReturn)
}

void join_all(WorkClock* to, const WorkClock& from) {
  for (const auto& [stream, number] : from) (*to)[stream] = std::max((*to)[stream], number);
}

bool is_host() { return actors().size() == 1; }
// Returns the clock of the work that happened before the current point of this thread.
WorkClock& current_clock() {
  WorkClock& all = actors().back().acquired;
  if (is_host()) join_all(&all, order().of_host);
  return all;
}

void acquire(const void* address) {
  const std::lock_guard<std::mutex> lock(order().mutex);
  join_all(&actors().back().acquired, order().released[address]);
  if (is_host()) join_all(&order().of_host, actors().back().acquired);
}
void release(const void* address) {
  const std::lock_guard<std::mutex> lock(order().mutex);
  join_all(&order().released[address], current_clock());
}
void forget(const void* address) {
  const std::lock_guard<std::mutex> lock(order().mutex);
  order().released.erase(address);
}
// Starts an actor, with the clock of this thread's active actor.
void enters() {
  const std::lock_guard<std::mutex> lock(order().mutex);
  (void)current_clock();
  const Actor maker = actors().back();
  actors().push_back(maker);
}
void leaves() {
  if (actors().size() > 1) actors().pop_back();  // the actor may have entered before keep_order()
}

// Begins work of a queue; `queue` is null for unordered work. Work that has completed on the legacy
// stream happened before new work of a blocking stream, and work that has completed on a blocking
// stream happened before new work of the legacy stream.
void begins(const Queue* queue) {
  uint64_t by_others = 0;
  if (queue != nullptr && (queue->legacy || queue->blocking)) {
    for (const auto& [key, other] : state().queues) {
      if (!(queue->legacy ? other.blocking : other.legacy)) continue;
      acquire(&other.done);
      const std::lock_guard<std::mutex> lock(order().mutex);
      by_others = std::max(by_others, order().released[&other.done][&queue->done]);
    }
  }
  const std::lock_guard<std::mutex> lock(order().mutex);
  const uint64_t number = ++order().works;
  // Work without a queue is identified by a separate stream with an odd address, which no queue
  // has.
  const void* stream =
      queue != nullptr ? &queue->done : reinterpret_cast<const void*>(2 * number + 1);
  Actor& actor = actors().back();
  actor.work = {stream, number};
  actor.previous = queue != nullptr ? std::exchange(order().last[stream], number) : 0;
  actor.by_others = by_others;
  actor.acquired[stream] = number;
}

void note(OrderStep step, const void* object) {
  switch (step) {
    case OrderStep::kAcquire: return acquire(object);
    case OrderStep::kRelease: return release(object);
    case OrderStep::kForget: return forget(object);
    case OrderStep::kEnters: return enters();
    case OrderStep::kLeaves: return leaves();
    case OrderStep::kBegins: return begins(static_cast<const Queue*>(object));
  }
}

}  // namespace

void keep_order() { runtime_hooks.order = note; }
void forget_order() {
  runtime_hooks.order = ignore_order;
  actors() = std::vector<Actor>(1);
  const std::lock_guard<std::mutex> lock(order().mutex);
  order().released.clear();
  order().last.clear();
  order().of_host.clear();
}
WorkId work_now() { return actors().back().work; }
WorkClock work_clock() {
  const std::lock_guard<std::mutex> lock(order().mutex);
  return current_clock();
}
uint64_t previous_work() { return actors().back().previous; }
uint64_t acquired_by_other_streams() { return actors().back().by_others; }
namespace {
bool contains(const WorkClock& clock, const WorkId& work) {
  if (kRaceDetector || work.stream == nullptr) return true;
  const auto position = clock.find(work.stream);
  return position != clock.end() && position->second >= work.number;
}
}  // namespace
bool is_before(const WorkId& work) { return contains(actors().back().acquired, work); }
bool host_waited_for(const WorkId& work) {
  const std::lock_guard<std::mutex> lock(order().mutex);
  return contains(order().of_host, work);
}

}  // namespace kernkit::simulator::ptx
