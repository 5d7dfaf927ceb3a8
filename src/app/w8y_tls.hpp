// TLS for a program that must start fast: OpenSSL takes longer to load than the rest of the start.
#pragma once

namespace w8y::app {

/// Enables TLS for URLs that need it. `w8y` executes w8y-tls, its variant with TLS, with the same
/// arguments in the same process, and does not return. Throws std::runtime_error if w8y-tls is not
/// available.
void prepare_tls(char** argv);

}  // namespace w8y::app
