// Comparison of any command on keys of any type, and of transactions on two connections.
#include "simulation/comparison.hpp"

namespace w8y::sim {

namespace {

/// Forms of commands: K is a key, V a word, N a number, S a score, B a bound.
const std::vector<std::string>& command_forms() {
  static const std::vector<std::string> forms{
      "EXISTS K K",
      "DEL K",
      "UNLINK K K",
      "RENAME K K",
      "TYPE K",
      "SET K V",
      "SET K N",
      "SET K V NX",
      "SET K V XX",
      "SET K V PX 3000000",
      "GET K",
      "MGET K K K",
      "GETRANGE K N N",
      "INCR K",
      "INCRBY K N",
      "PEXPIRE K 2000000",
      "RPUSH K V V V",
      "LPUSH K V V",
      "RPOP K",
      "RPOP K N",
      "LPOP K",
      "LLEN K",
      "LINDEX K N",
      "LRANGE K N N",
      "LTRIM K N N",
      "LREM K N V",
      "LSET K N V",
      "LPOS K V",
      "LPOS K V RANK -1 MAXLEN 2",
      "LPOS K V MAXLEN 2",
      "LPOS K V COUNT 0",
      "LPOS K V RANK -1 COUNT 2 MAXLEN 3",
      "LPOS K V RANK 2 COUNT 0",
      "LINSERT K BEFORE V V",
      "LINSERT K AFTER V V",
      "LMOVE K K LEFT RIGHT",
      "LMOVE K K RIGHT LEFT",
      "HSET K V V V N",
      "HSET K V",
      "HDEL K V V",
      "HGET K V",
      "HMGET K V V",
      "HEXISTS K V",
      "HSTRLEN K V",
      "HLEN K",
      "HINCRBY K V N",
      "SADD K V V",
      "SREM K V V",
      "SISMEMBER K V",
      "SCARD K",
      "ZADD K S V S V",
      "ZADD K S V V",
      "ZADD K NX S V S V",
      "ZADD K XX S V",
      "ZADD K NX",
      "ZREM K V",
      "ZSCORE K V",
      "ZMSCORE K V V",
      "ZCARD K",
      "ZRANK K V",
      "ZRANGE K N N",
      "ZRANGE K N N WITHSCORES",
      "ZREVRANGE K N N WITHSCORES",
      "ZRANGEBYSCORE K B B",
      "ZRANGEBYSCORE K B B WITHSCORES LIMIT 1 2",
      "ZREVRANGEBYSCORE K B B",
      "ZRANGE K B B BYSCORE REV LIMIT 0 2 WITHSCORES",
      "ZREVRANGEBYSCORE K B B WITHSCORES LIMIT 1 2",
      "ZCOUNT K B B",
      "ZREMRANGEBYRANK K N N",
      "ZREMRANGEBYSCORE K B B",
  };
  return forms;
}

std::string word_for(Random& random, const std::string& mark) {
  if (mark == "K") return "p" + std::to_string(random.below(6));
  if (mark == "V") return random.one_of<std::string>({"a", "b", "c", "", "7", "-3", "07"});
  if (mark == "N") return std::to_string(random.between(-4, 5));
  if (mark == "S")
    return random.one_of<std::string>({"1", "2", "2.5", "-inf", "+inf", "1e3", "x", "1800000000"});
  if (mark == "B")
    return random.one_of<std::string>({"-inf", "+inf", "2", "(2", "(+inf", "2.5", "y"});
  return mark;
}

}  // namespace

Words Comparison::any_command(Random& random) {
  const std::string& form = random.one_of(command_forms());
  Words words;
  for (std::size_t at = 0; at <= form.size();) {
    const std::size_t end = std::min(form.find(' ', at), form.size());
    words.push_back(word_for(random, form.substr(at, end - at)));
    at = end + 1;
  }
  return words;
}

void Comparison::command_step() {
  both(any_command(of_commands_));
}

Value Comparison::on(Connection& connection, const Words& words) {
  const std::size_t told = published_.size();
  const auto run = [this](const Words& each) {
    const CommandInfo* info = command_of(each.front());
    if (info == nullptr) throw std::runtime_error("there is no model of " + each.front());
    return run_command(*info, {keys_, each, published_});
  };
  const Transaction::Rules rules{[](const Words&) { return std::string(); },
                                 [&](const std::vector<Words>& queued) {
                                   std::vector<Value> replies;
                                   for (const Words& each : queued) replies.push_back(run(each));
                                   return Value::array(std::move(replies));
                                 }};
  const auto taken = connection.model.handle(words, rules);
  const Value expected = taken ? *taken : run(words);
  compare_reply(words, expected, connection.real, published_.size() == told);
  return expected;
}

/// Discards the open transactions of both connections, so that no later step executes them.
void Comparison::leave_transactions() {
  for (Connection& each : connections_)
    if (each.model.open()) on(each, {"DISCARD"});
}

void Comparison::transaction_step() {
  Connection& connection = connections_[of_transactions_.below(2)];
  const auto dice = of_transactions_.below(100);
  if (dice < 16) return (void)on(connection, {"MULTI"});
  if (dice < 36) return (void)on(connection, {"EXEC"});
  if (dice < 40) return (void)on(connection, {"DISCARD"});
  on(connection, any_command(of_transactions_));
}

}  // namespace w8y::sim
