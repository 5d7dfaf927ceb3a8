// TLS in the program w8y-tls.
#include "app/w8y_tls.hpp"
#include "redis/tls_transport.hpp"

namespace w8y::app {

void prepare_tls(char**) {
  redis::provide_tls();
}

}  // namespace w8y::app
