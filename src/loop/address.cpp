#include "loop/address.hpp"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <cstring>
#include <stdexcept>

#include "loop/loop.hpp"

namespace w8y::loop {

namespace {

template <typename Sockaddr>
Address make_address(const Sockaddr& from) {
  Address address;
  static_assert(sizeof from <= sizeof address.storage);
  std::memcpy(&address.storage, &from, sizeof from);
  address.length = sizeof from;
  return address;
}

std::optional<Address> v4(const char* text, std::uint16_t port) {
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(port);
  if (inet_pton(AF_INET, text, &in.sin_addr) != 1) return std::nullopt;
  return make_address(in);
}

std::optional<Address> v6(const char* text, std::uint16_t port) {
  sockaddr_in6 in{};
  in.sin6_family = AF_INET6;
  in.sin6_port = htons(port);
  if (inet_pton(AF_INET6, text, &in.sin6_addr) != 1) return std::nullopt;
  return make_address(in);
}

bool is_localhost(std::string_view host) {
  constexpr std::string_view name = "localhost";
  if (host.ends_with('.')) host.remove_suffix(1);
  if (host.size() < name.size()) return false;
  const std::string_view last = host.substr(host.size() - name.size());
  for (std::size_t i = 0; i < name.size(); ++i)
    if ((last[i] | 0x20) != name[i]) return false;
  return host.size() == name.size() || host[host.size() - name.size() - 1] == '.';
}

std::vector<Address> copy(const addrinfo* found) {
  std::vector<Address> addresses;
  for (; found != nullptr; found = found->ai_next) {
    Address address;
    if (found->ai_addrlen > sizeof address.storage) continue;
    std::memcpy(&address.storage, found->ai_addr, found->ai_addrlen);
    address.length = found->ai_addrlen;
    addresses.push_back(address);
  }
  return addresses;
}

addrinfo hints(int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | flags;
  return hints;
}

/// Resolves an address with a zone. Only getaddrinfo translates the zone of fe80::1%eth0 into its
/// number; for a numeric address it sends no query.
std::optional<std::vector<Address>> with_zone(const std::string& host, std::uint16_t port) {
  const addrinfo wanted = hints(AI_NUMERICHOST);
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &wanted, &found) != 0)
    return std::vector<Address>{};
  auto addresses = copy(found);
  freeaddrinfo(found);
  return addresses;
}

}  // namespace

std::optional<std::vector<Address>> known_addresses(const Endpoint& place) {
  if (!place.path.empty()) {
    sockaddr_un un{};
    un.sun_family = AF_UNIX;
    if (place.path.size() >= sizeof un.sun_path) return std::vector<Address>{};
    std::memcpy(un.sun_path, place.path.data(), place.path.size());
    return std::vector{make_address(un)};
  }
  if (is_localhost(place.host))
    return std::vector{*v4("127.0.0.1", place.port), *v6("::1", place.port)};
  if (const auto address = v4(place.host.c_str(), place.port)) return std::vector{*address};
  if (const auto address = v6(place.host.c_str(), place.port)) return std::vector{*address};
  if (place.host.find(':') != std::string::npos) return with_zone(place.host, place.port);
  return std::nullopt;
}

Lookup::Lookup(Loop& loop, const std::string& host, std::uint16_t port, Callback callback)
    : request_(new uv_getaddrinfo_t), callback_(std::move(callback)) {
  request_->data = this;
  const addrinfo wanted = hints(0);
  const int result = uv_getaddrinfo(loop.uv(), request_, on_answer, host.c_str(),
                                    std::to_string(port).c_str(), &wanted);
  if (result < 0) {  // out of memory, or an invalid name
    delete request_;
    throw std::runtime_error(uv_strerror(result));
  }
}

Lookup::~Lookup() {
  if (request_ == nullptr) return;
  request_->data = nullptr;
  uv_cancel(reinterpret_cast<uv_req_t*>(request_));
}

void Lookup::on_answer(uv_getaddrinfo_t* request, int status, addrinfo* found) {
  auto* self = static_cast<Lookup*>(request->data);
  delete request;
  std::vector<Address> addresses;
  if (status == 0) addresses = copy(found);
  uv_freeaddrinfo(found);
  if (self == nullptr) return;
  self->request_ = nullptr;
  self->callback_(std::move(addresses), status < 0 ? uv_strerror(status) : "no addresses");
}

}  // namespace w8y::loop
