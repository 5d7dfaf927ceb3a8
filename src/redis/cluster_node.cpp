#include "redis/cluster_node.hpp"

#include <utility>

namespace w8y::redis {

namespace {

ClientOptions at(const ClientOptions& options, const HostPort& where) {
  ClientOptions of = options;
  of.url = options.url.at(where);
  return of;
}

}  // namespace

ClusterNode::ClusterNode(loop::Loop& loop, const ClientOptions& of_cluster, const HostPort& where,
                         Changed changed)
    : NodeClient{ServerClient(loop, at(of_cluster, where))},
      Client::Listener(owned),
      place(where),
      options(at(of_cluster, where)),
      client(owned),
      where_(options.url.to_string()),
      changed_(std::move(changed)) {}

void ClusterNode::on_up() {
  look_again();
}

void ClusterNode::on_down(const std::string& why) {
  ready_ = queried_ = false;
  error_ = why;
  refusing_.clear();
  changed_(*this);
}

void ClusterNode::on_refusing(const std::string& why) {
  if (error_code(why) == ErrorCode::clusterdown) return;  // on_cluster_down() handles it
  refusing_ = why;
  changed_(*this);
}

void ClusterNode::on_cluster_down(std::string_view reply) {
  ready_ = false;
  error_ = where_ + ": " + std::string(reply);
  changed_(*this);
}

void ClusterNode::look_again() {
  if (ready_ || !client.connected() || std::exchange(queried_, true)) return;
  client.call({"CLUSTER", "INFO"}, [this](const Answer& answer) {
    if (answer.failure != Failure::none) return;  // on_down() follows
    queried_ = false;
    // If an ACL refuses the command, the cluster counts as usable.
    ready_ = answer.reply.text().find("cluster_state:fail") == std::string_view::npos;
    error_ = ready_ ? "" : where_ + ": the cluster is down (cluster_state:fail)";
    changed_(*this);
  });
}

}  // namespace w8y::redis
