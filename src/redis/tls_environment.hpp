// TLS settings of programs that have no config file.
#pragma once

#include "redis/options.hpp"

namespace w8y::redis {

/// Reads $W8Y_TLS_CA, $W8Y_TLS_CERT, $W8Y_TLS_KEY and $W8Y_TLS_SERVER_NAME, which correspond to the
/// tls_ keys of w8y.toml.
TlsOptions tls_environment();

}  // namespace w8y::redis
