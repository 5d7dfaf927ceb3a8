#include "store/request_record.hpp"

namespace w8y::store {

RecordedReply read_recorded(const redis::ReplyCopy& reply) {
  RecordedReply read;
  if (reply.elements.size() < 3) return read;
  const std::string& state = reply.elements[0].text;
  if (state == "again") read.state = RecordedReply::State::again;
  if (state == "other") read.state = RecordedReply::State::other;
  read.results = reply.elements[1].text;
  read.data = reply.elements[2].text;
  return read;
}

}  // namespace w8y::store
