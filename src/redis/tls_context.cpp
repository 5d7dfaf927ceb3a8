#include "redis/tls_context.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

namespace w8y::redis {

namespace {

struct FreeContext {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
};

std::string reason() {
  const unsigned long code = ERR_peek_last_error();
  const char* text = code == 0 ? nullptr : ERR_reason_error_string(code);
  ERR_clear_error();
  return text != nullptr ? text : "no reason given";
}

/// OpenSSL would ask on the terminal.
int no_passphrase(char*, int, int, void*) {
  return 0;
}

void load_trust(SSL_CTX* context, const std::string& ca) {
  if (ca.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) != 1)
      throw TlsError("can't read whom the system trusts: " + reason());
  } else if (SSL_CTX_load_verify_file(context, ca.c_str()) != 1) {
    throw TlsError("tls_ca " + ca + ": " + reason());
  }
}

void load_identity(SSL_CTX* context, const TlsOptions& tls) {
  if (tls.cert.empty()) return;
  const std::string& key = tls.key.empty() ? tls.cert : tls.key;
  SSL_CTX_set_default_passwd_cb(context, no_passphrase);
  if (SSL_CTX_use_certificate_chain_file(context, tls.cert.c_str()) != 1)
    throw TlsError("tls_cert " + tls.cert + ": " + reason());
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) != 1)
    throw TlsError("tls_key " + key + ": " + reason());
}

bool is_address(const std::string& name) {
  in6_addr ignored{};
  return inet_pton(AF_INET, name.c_str(), &ignored) == 1 ||
         inet_pton(AF_INET6, name.c_str(), &ignored) == 1;
}

/// The name is checked by OpenSSL together with the chain.
void expect_name(SSL* ssl, const std::string& name) {
  if (is_address(name)) {
    if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) != 1)
      throw TlsError("can't check for the address " + name);
    return;
  }
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (SSL_set1_host(ssl, name.c_str()) != 1 || SSL_set_tlsext_host_name(ssl, name.c_str()) != 1)
    throw TlsError("can't check for the name " + name);
}

}  // namespace

OwnedSsl make_tls_client(const ClientOptions& options) {
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, FreeContext> context(SSL_CTX_new(TLS_client_method()));
  if (!context) throw TlsError("no TLS: " + reason());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_RENEGOTIATION | SSL_OP_IGNORE_UNEXPECTED_EOF);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // A partial write is finished from where our buffer has moved to meanwhile.
  SSL_CTX_set_mode(context.get(),
                   SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
  load_trust(context.get(), options.tls.ca);
  load_identity(context.get(), options.tls);
  OwnedSsl ssl(SSL_new(context.get()));
  if (!ssl) throw TlsError("no TLS: " + reason());
  const std::string& name = options.tls.server_name;
  expect_name(ssl.get(), name.empty() ? options.url.server.host : name);
  SSL_set_connect_state(ssl.get());
  return ssl;
}

std::string tls_problem(SSL* ssl) {
  const long verdict = SSL_get_verify_result(ssl);
  const unsigned long code = ERR_peek_last_error();
  const int why = ERR_GET_REASON(code);
  if (ERR_GET_LIB(code) == ERR_LIB_SSL) {
    if (why == SSL_R_CERTIFICATE_VERIFY_FAILED && verdict != X509_V_OK) {
      ERR_clear_error();
      return std::string("the server's certificate is not accepted: ") +
             X509_verify_cert_error_string(verdict);
    }
    if (why == SSL_R_WRONG_VERSION_NUMBER) {
      ERR_clear_error();
      return "the other side doesn't speak TLS";
    }
  }
  return "TLS: " + reason();
}

}  // namespace w8y::redis
