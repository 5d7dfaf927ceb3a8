// From a URL to what carries the bytes.
#pragma once

#include <memory>

#include "loop/address.hpp"
#include "loop/transport.hpp"

namespace w8y::loop {
class Loop;
}

namespace w8y::redis {

using loop::Transport;
struct ClientOptions;

/// Where the one server of a URL is (tcp or unix_socket).
struct Url;
loop::Endpoint endpoint_of(const Url& url);

/// To the one server of options.url (tcp or unix_socket), plain or with TLS as the URL asks.
std::unique_ptr<Transport> make_transport(loop::Loop& loop, const ClientOptions& options,
                                          Transport::Handler& handler);

/// TLS is a library of its own (tls_transport.hpp), so that a program that is started for one item
/// doesn't carry it. Without it, a URL that asks for TLS is answered with a sentence.
using TlsMaker = std::unique_ptr<Transport> (*)(loop::Loop& loop, const ClientOptions& options,
                                                Transport::Handler& handler);
void provide_tls(TlsMaker maker);

}  // namespace w8y::redis
