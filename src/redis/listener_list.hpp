// Registered listeners, in registration order.
#pragma once

#include <list>

namespace w8y::redis {

/// List that allows a listener to add and remove listeners while it is called.
template <typename Listener>
class ListenerList {
 public:
  using Place = typename std::list<Listener*>::iterator;

  Place add(Listener* listener) { return list_.insert(list_.end(), listener); }
  void remove(Place place) {
    if (next_ == place) ++next_;
    list_.erase(place);
  }

  template <typename Tell>
  void for_each(Tell tell) {
    for (next_ = list_.begin(); next_ != list_.end();) {
      Listener* listener = *next_++;
      tell(*listener);
    }
  }

 private:
  std::list<Listener*> list_;
  Place next_ = list_.end();
};

}  // namespace w8y::redis
