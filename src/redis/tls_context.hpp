// TLS contexts of OpenSSL: trusted authorities, own certificate, and errors as sentences.
#pragma once

#include <openssl/ssl.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "redis/options.hpp"

namespace w8y::redis {

struct FreeSsl {
  void operator()(SSL* ssl) const { SSL_free(ssl); }
};
using OwnedSsl = std::unique_ptr<SSL, FreeSsl>;

/// Error of a file that cannot be used. The text is for people.
class TlsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Creates a client that accepts only servers with a certificate of a trusted authority, for the
/// name in the options or the host of the URL. Reads the files now. Throws TlsError.
OwnedSsl make_tls_client(const ClientOptions& options);

/// Error of the last call on this thread.
std::string tls_problem(SSL* ssl);

}  // namespace w8y::redis
