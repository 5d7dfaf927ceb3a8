// What a SpawnService and its helper say to each other, over a socket that keeps messages apart.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

#include "process/fd.hpp"
#include "process/spawn.hpp"

namespace w8y::process {

/// Descriptors that go with a request: where the child tells, its 0, 1 and 2, its control group.
struct SpawnFds {
  Fd status;
  std::array<Fd, 3> streams;
  Fd group;
};

struct SpawnReply {
  std::uint64_t id = 0;
  pid_t pid = 0;  ///< 0: there is none, by `error`
  int error = 0;
  int group_error = 0;
};

/// The numbers of a message's descriptors; -1: none.
using FdNumbers = std::array<int, 5>;

/// A request in bytes, without its descriptors.
std::string encode(std::uint64_t id, const SpawnRequest& request);
/// False: it is no such thing.
bool decode(std::string_view bytes, std::uint64_t& id, SpawnRequest& request);

/// 0, or errno. What is too long for a message goes by a file in memory.
int send_request(int socket, const std::string& bytes, const FdNumbers& fds);
/// False: the other side is gone.
bool receive_request(int socket, std::string& bytes, SpawnFds& fds);
bool send_reply(int socket, const SpawnReply& reply, int pidfd);
/// 1: there was one. 0: none yet. -1: the other side is gone.
int receive_reply(int socket, SpawnReply& reply, Fd& pidfd);

}  // namespace w8y::process
