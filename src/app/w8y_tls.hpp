// TLS for a program that must start at once: OpenSSL would cost it more than all the rest.
#pragma once

namespace w8y::app {

/// After this, URLs that ask for TLS have it. `w8y` itself hands over to its larger twin, w8y-tls,
/// with the same arguments in the same process, and does not return; throws std::runtime_error if
/// that is not to be had.
void prepare_tls(char** argv);

}  // namespace w8y::app
