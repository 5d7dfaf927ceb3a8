#include "ctl/watching.hpp"

#include <iostream>

#include "core/escape.hpp"
#include "ctl/failure.hpp"

namespace w8y::ctl {

void Watching::seen() {
  std::cout.flush();
  if (++seen_ == limit_ || !std::cout) loop_.stop();
}

void Watching::run() {
  loop_.run();
  if (!failure_.empty()) throw Failure(not_reachable, failure_);
}

void Watching::on_up() {
  if (in_trouble_) complain("Redis available again; events may have been missed");
  in_trouble_ = false;
  reached_ = true;
}

void Watching::on_down(const std::string& why) {
  if (!reached_) {
    failure_ = why;
    loop_.stop();
  } else if (!in_trouble_) {
    complain("Redis is gone: " + escape(why) + "; waiting for it");
  }
  in_trouble_ = true;
}

void Watching::on_refused(const std::string& channel, const std::string& why) {
  complain(escape_text(channel) + ": " + escape(why));
}

}  // namespace w8y::ctl
