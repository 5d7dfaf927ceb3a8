#include "store/circular/redis_list.hpp"

#include <algorithm>
#include <utility>

#include "store/rights.hpp"
#include "store/run_record.hpp"

namespace w8y::store {

namespace {

/// Maximum of unsent bytes up to which events of runs are published. A child that floods its output
/// must neither grow the memory of w8yd nor delay other lists.
constexpr std::size_t most_unsent = std::size_t{1} << 20;

/// Time for which the list stays subscribed to wake-ups that it does not need, because subscribing
/// again costs more than a few messages. When 100,000 lists start, they wait longer than this for a
/// slot to claim with. If each subscribed again then, and peeked again after the confirmation, the
/// start would never finish.
constexpr Duration listens_in_vain = std::chrono::seconds(5);
/// Maximum number of unneeded wake-ups before the list unsubscribes. If a thousand hosts are busy,
/// each would receive a message for each settlement of the others, more than a Redis can send.
constexpr unsigned most_in_vain = 64;

}  // namespace

RedisCircularList::RedisCircularList(std::shared_ptr<RedisSession> session,
                                     CircularListHandler& handler)
    : SessionUser{std::move(session)},
      redis::Client::Listener(session_->client),
      Sweep::Swept(session_->circular.sweep),
      handler_(handler) {}

RedisCircularList::~RedisCircularList() {
  if (alive_) *alive_ = false;
}

RedisCircularList::Work::Work(RedisCircularList& list)
    : claimer(*list.session_, list.memory_, list, list.handler_),
      later(list.session_->clock, list.session_->timers),
      tires(list.session_->timers) {}

bool RedisCircularList::Work::over() const {
  return claimer.idle() && unsettled() == 0 && later.empty() && !turn && near.empty();
}

void RedisCircularList::use(ListConfigPtr rule) {
  rule_ = std::move(rule);
  if (work_) work_->store.reset();
}

RedisCircularList::Work& RedisCircularList::work() {
  if (!work_) work_ = std::make_unique<Work>(*this);
  return *work_;
}

bool RedisCircularList::can_hear() const {
  std::string key;
  add_key_of_list(key);
  return session_->circular.look_batcher.tracks(key);
}

const std::shared_ptr<CircularLeaseStore>& RedisCircularList::store() {
  auto& store = work().store;
  if (!store)
    store = std::make_shared<CircularLeaseStore>(
        *session_, CircularKeys(*rule_),
        rule_->keeps_records && history_of(*rule_, false).runs > 0);
  return store;
}

const std::shared_ptr<bool>& RedisCircularList::alive() {
  if (!alive_) alive_ = std::make_shared<bool>(true);
  return alive_;
}

CircularSettlements& RedisCircularList::settlements() {
  auto& settlements = work().settlements;
  if (!settlements)
    settlements = std::make_unique<CircularSettlements>(
        *session_, CircularSettlements::Handler{
                       [this] { look_all_settled(); },
                       [this](const RunId& run, const std::string& why) { give_up(run, why); },
                       [this](const std::string& refused) {
                         handler_.on_unwritten(refused.empty() ? refused : missing_right(refused));
                       }});
  return *settlements;
}

/// Frees the state that an idle list does not need.
void RedisCircularList::put_away() {
  if (!work_) return;
  if (work_->over()) {
    work_.reset();
  } else if (work_->claimer.held() == 0 && work_->unsettled() == 0) {
    work_->settlements.reset();
    work_->store.reset();
  }
}

std::string RedisCircularList::lock_value(const RunId& run) const {
  return session_->holder.lock(run);
}

void RedisCircularList::on_up() {
  if (work_ && work_->settlements) work_->settlements->retry();
  waiting_ = false;
  wait_queue_ = WaitQueue::none;
  // After the settlements, and from the loop: a handler is never called from inside another call.
  handler_.on_back();
}

// ---- Events and notifications

void RedisCircularList::announce(const RunEvent& event) {
  if (!rule_->keeps_records || !session_->client.connected()) return;
  // Events are for subscribers only and must not delay claims and renewals.
  if (session_->client.unsent() > most_unsent) return;
  settlements().publish(keys_of(store()),
                        event_json(*rule_, session_->holder.host, event, session_->clock.wall()));
}

void RedisCircularList::listen(bool on) {
  if (work_) work_->tires.cancel();
  if (!on) {
    leave_queue();
    return stop_listening();
  }
  if (!wake_) {
    // on_back() follows when the channel is confirmed too: messages before it may have been missed.
    wake_ = session_->subscriber.subscribe(keys().wake, *this);
  }
  if (empty_ && rule_->supervised) hear_of_no_turn();  // there is nothing to wait for
  // The one-item wrapper claims what is free, until it must wait.
  if ((waiting_ || !rule_->supervised) && !work().turn)
    work_->turn = session_->subscriber.subscribe(keys().turn(lock_value({})), *this);
  put_away();
}

/// Dispatches by the end of the channel name, which differs between the channels.
void RedisCircularList::on_message(std::string_view channel, std::string_view message) {
  if (channel.ends_with(':')) return heard_of_turn(message);
  if (work_ && work_->tires.pending() && ++work_->in_vain == most_in_vain)
    tire(session_->clock.now());
  heard(message);
}

void RedisCircularList::on_confirmed(std::string_view channel) {
  if (work_ && channel.ends_with(':')) work_->turn_heard = true;
  handler_.on_back();
}

void RedisCircularList::stop_listening() {
  wake_.reset();
  hear_of_no_turn();
  untrack();
}

void RedisCircularList::hear_of_no_turn() {
  if (!work_) return;
  work_->turn.reset();
  work_->turn_heard = false;
}

void RedisCircularList::may_stop_listening() {
  if (!wake_ || work().tires.pending()) return;
  work_->in_vain = 0;
  tire(session_->clock.now() + listens_in_vain);
}

void RedisCircularList::tire(Instant at) {
  work_->tires.set(at, [this] {
    if (work_->in_vain > 0) return stop_listening();
    tire(session_->clock.now() + listens_in_vain);
  });
}

/// Returns whether this host has freed the item. The message has two lines, "free" and the holder;
/// any other message is a wake-up by a client. If the wait queue is not crowded, this host sends
/// the settlement and the next claim together.
bool RedisCircularList::is_ours(std::string_view news) const {
  constexpr std::string_view free = "free\n";
  return news.starts_with(free) && news.substr(free.size()) == lock_value({});
}

void RedisCircularList::heard(std::string_view message) {
  constexpr std::string_view located = "free\n\n";  // free_message.lua
  if (message.starts_with(located) && search_near(message.substr(located.size())))
    return handler_.on_located();
  if (!is_ours(message)) return handler_.on_wake();
  if (wait_queue_ == WaitQueue::crowded) handler_.on_turn();
}

void RedisCircularList::heard_of_turn(std::string_view message) {
  if (wait_queue_ == WaitQueue::crowded || !is_ours(message)) handler_.on_turn();
}

/// Adds positions for the next claim. Returns false if they are invalid or too many, as any client
/// can send them.
bool RedisCircularList::search_near(std::string_view positions) {
  constexpr std::size_t most_text = 256;
  if (positions.empty() || positions.size() >= most_text ||
      positions.find_first_not_of("0123456789 ") != std::string_view::npos)
    return false;
  std::string& near = work().near;
  if (near.size() + positions.size() >= most_text) return false;
  near.append(" ").append(positions);
  return true;
}

// ---- Idle lists

void RedisCircularList::look(Look what) {
  LookBatcher& batcher = session_->circular.look_batcher;
  if (empty_) return batcher.if_empty(*this);
  if (place_ >= length_) place_ = 0;
  const std::int64_t right = std::max<std::int64_t>(length_ - ScriptLocks::seen_at_right, 0);
  batcher.if_locked(
      {CircularKeys::list_of(*rule_), CircularKeys::lock_prefix_of(*rule_), length_,
       what == Look::end ? right : place_, what},
      *this, [this, alive = alive(), what](LookReply reply, const LookBatcher::Seen& seen) {
        if (!*alive) return;
        const bool next_items = what == Look::items || what == Look::many;
        if (next_items) {
          // The next peek starts behind a free item: a claim may not be able to lock it.
          place_ = seen.right_of_free ? length_ - *seen.right_of_free : place_ + seen.items;
          reply.next = LookBatcher::next_after(length_);
        }
        reply.located = seen.right_of_free && search_near(std::to_string(*seen.right_of_free));
        looked(reply);
      });
}

void RedisCircularList::looked(LookReply reply) {
  if (alive_.use_count() == 1) alive_.reset();
  handler_.on_looked(reply);
}

}  // namespace w8y::store
