#include "redis/tls_environment.hpp"

#include <cstdlib>

namespace w8y::redis {

namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

TlsOptions tls_environment() {
  return {variable("W8Y_TLS_CA"), variable("W8Y_TLS_CERT"), variable("W8Y_TLS_KEY"),
          variable("W8Y_TLS_SERVER_NAME")};
}

}  // namespace w8y::redis
