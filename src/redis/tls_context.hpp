// OpenSSL's side of a connection: what is trusted, who we are, and its errors as sentences.
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

/// A file that can't be used; the text is for people.
class TlsError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A client that believes only whom the options trust, under the name that they say or the URL's
/// host. Reads the files now. Throws TlsError.
OwnedSsl make_tls_client(const ClientOptions& options);

/// Why the last call on this thread failed.
std::string tls_problem(SSL* ssl);

}  // namespace w8y::redis
