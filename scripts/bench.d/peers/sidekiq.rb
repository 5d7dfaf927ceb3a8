# Sidekiq as a peer of scripts/bench; benchlib/peer_work.py describes the arguments.
require "sidekiq"

STEP, SOCKET, *REST = ARGV
if STEP == "version"
  puts Sidekiq::VERSION
  exit
end

def us
  Process.clock_gettime(Process::CLOCK_REALTIME, :float_microsecond)
end

class Job
  include Sidekiq::Worker

  def perform(sent)
    File.open(LOG, "a") { |file| file.syswrite("#{us - sent.to_f}\n") } if LOG
  end
end

def put(count)
  since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  count.step(1, -1000) { |left| Sidekiq::Client.push_bulk("class" => Job, "args" => [[""]] * [left, 1000].min) }
  puts Process.clock_gettime(Process::CLOCK_MONOTONIC) - since
end

def pace(rate, seconds)
  since = Process.clock_gettime(Process::CLOCK_MONOTONIC)
  (rate * seconds).to_i.times do |sent|
    early = since + sent / rate - Process.clock_gettime(Process::CLOCK_MONOTONIC)
    sleep(early) if early.positive?
    Job.perform_async(us.to_s)
  end
end

redis = { url: "unix://#{SOCKET}" }
if STEP == "work"
  CONCURRENCY, SETTINGS, LOG = REST
  require "sidekiq/cli"
  best = SETTINGS == "best"
  threads = [CONCURRENCY.to_i, best ? 10 : 50].min
  redis[:driver] = :hiredis if best
  Sidekiq.configure_server do |config|
    config.redis = redis.merge(size: [threads, 10].max + 5)
    config.logger.level = Logger::WARN if best
  end
  cli = Sidekiq::CLI.instance
  cli.parse(["-r", __FILE__, "-c", threads.to_s])
  cli.run(boot_app: false)
  exit
end
Sidekiq.configure_client { |config| config.redis = redis }
if STEP == "put"
  put(Integer(REST[0]))
else
  pace(*REST.map(&:to_f))
end
