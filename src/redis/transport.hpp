// Creates the transport for a URL.
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

/// Endpoint of the one server of a URL (tcp or unix_socket).
struct Url;
loop::Endpoint endpoint_of(const Url& url);

/// Creates a transport to the one server of options.url (tcp or unix_socket), plain or with TLS as
/// the URL requires.
std::unique_ptr<Transport> make_transport(loop::Loop& loop, const ClientOptions& options,
                                          Transport::Handler& handler);

/// Function that creates TLS transports. TLS is a separate library (tls_transport.hpp), so that a
/// program that is started for one item does not load it. Without it, a URL that requires TLS fails
/// with an error message.
using TlsMaker = std::unique_ptr<Transport> (*)(loop::Loop& loop, const ClientOptions& options,
                                                Transport::Handler& handler);
void provide_tls(TlsMaker maker);

}  // namespace w8y::redis
