// Maintenance of a feed of jobs in Redis.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "core/timers.hpp"
#include "store/recovery.hpp"
#include "store/redis_session.hpp"
#include "store/thoonk/job_care.hpp"

namespace w8y::store::thoonk {

class RedisJobCare final : public JobCare, private SessionUser, private redis::Client::Listener {
 public:
  RedisJobCare(std::shared_ptr<RedisSession> session, JobCareHandler& handler);
  ~RedisJobCare() override;

  void use(ListConfigPtr rule) override;
  void recover() override;
  void maintain() override;

 private:
  void on_up() override {
    feed_exists_ = false;  // Redis may have lost its data
    handler_.on_back();
  }
  void on_down(const std::string&) override {}
  void create_feed(const std::string& name, const char* kind, const char* max_length);
  void create_feed_in_cluster(const std::string& name, const char* kind, const char* max_length);
  void step();
  void stepped(const redis::Answer& answer, Instant sent);
  void complete();
  void end(const std::string& trouble);

  JobCareHandler& handler_;
  ListConfigPtr rule_;
  bool feed_exists_ = false;  ///< or its creation is in flight, or was refused
  Recovery recovery_;
  std::optional<JobMaintenance> maintenance_;
  Timer pause_;  ///< delay between two steps
  std::shared_ptr<bool> alive_;
};

}  // namespace w8y::store::thoonk
