#include "redis/client.hpp"

#include <utility>

#include "redis/client_impl.hpp"
#include "redis/cluster_client.hpp"
#include "redis/server_client.hpp"

namespace w8y::redis {

Client::Client(loop::Loop& loop, ClientOptions options) {
  if (options.url.kind == Url::Kind::cluster) {
    impl_ = std::make_unique<ClusterClient>(loop, std::move(options));
  } else {
    impl_ = std::make_unique<ServerClient>(loop, std::move(options));
  }
}

Client::~Client() = default;

void Client::call(const Command& command, Callback callback) {
  impl_->call(command, std::move(callback));
}

void Client::call(const Command& command) {
  impl_->call(command, {});
}

void Client::run(const Script& script, const Command& keys, const Command& args,
                 Callback callback) {
  impl_->run(script, keys, args, std::move(callback));
}

bool Client::connected() const {
  return impl_->connected();
}

const std::string& Client::error() const {
  return impl_->error();
}

std::size_t Client::unsent() const {
  return impl_->unsent();
}
std::uint64_t Client::commands_sent() const {
  return impl_->commands_sent();
}

void Client::reconnect_now() {
  impl_->reconnect_now();
}

Client::Listener::Listener(Client& client)
    : client_(client), place_(client.impl_->listeners().add(this)) {}

Client::Listener::~Listener() {
  client_.impl_->listeners().remove(place_);
}

}  // namespace w8y::redis
