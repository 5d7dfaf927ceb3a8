#include "view/host_view.hpp"

#include <utility>

#include "view/list_view.hpp"

namespace w8y::view {

namespace {

struct HostStateForm {
  static void write(core::JsonObject& json, std::string_view name, HostState state, Surface) {
    json.put(name, state_name(state));
  }
  static void read(const JsonFields& json, std::string_view name, HostState& state) {
    state = host_state(json.text(name)).value_or(HostState::starting);
  }
};

// ---- state of a host

constexpr unsigned shown = api | host_page;
using R = RedisStatus;
constexpr Field<R> redis_fields[] = {
    field<R, Text<>, &R::url>("url", shown),
    field<R, Flag, &R::connected>("connected", shown),
    field<R, Text<>, &R::error>("error", shown),
    field<R, MaybeTime, &R::away_since>("unavailable_since_ms", shown),
    field<R, Number, &R::commands_sent>("commands_sent", api),
    field<R, Number, &R::leases>("leases", shown),
    field<R, MaybeTime, &R::lease_margin>("lease_margin_ms", shown),
    field<R, MaybeTime, &R::min_lease_margin>("min_lease_margin_ms", shown),
};

using G = GearmanStatus;
constexpr Field<G> gearman_fields[] = {
    field<G, Text<>, &G::server>("server", shown),
    field<G, Number, &G::lists>("lists", shown),
    field<G, Number, &G::connected>("connected", shown),
    field<G, Text<>, &G::error>("error", shown),
    field<G, MaybeTime, &G::away_since>("unavailable_since_ms", shown),
    field<G, Number, &G::jobs>("jobs", shown),
};

struct RedisForm {
  static void write(core::JsonObject& json, std::string_view name, const R& redis,
                    Surface surface) {
    core::AsciiObject object(256);
    put_fields(object, redis_fields, redis, surface);
    json.put_json(name, object.finish());
  }
  static void read(const JsonFields& json, std::string_view name, R& redis) {
    if (const auto object = json.object(name)) read_fields(*object, redis_fields, redis, api);
  }
};

struct GearmanForm {
  static void write(core::JsonObject& json, std::string_view name, const std::vector<G>& servers,
                    Surface surface) {
    const auto server_json = [&](const G& server) {
      core::AsciiObject object(256);
      put_fields(object, gearman_fields, server, surface);
      return object.finish();
    };
    json.put_json(name, core::json_array(servers, server_json));
  }
  static void read(const JsonFields& json, std::string_view name, std::vector<G>& servers) {
    for (const JsonFields& each : json.objects(name))
      read_fields(each, gearman_fields, servers.emplace_back(), api);
  }
};

using H = HostStatus;
constexpr Field<H> host_fields[] = {
    field<H, Text<>, &H::host>("host", shown),
    field<H, Text<>, &H::host_id>("host_id", shown),
    field<H, Number, &H::pid>("pid", shown),
    field<H, Text<>, &H::version>("version", shown),
    field<H, HostStateForm, &H::state>("state", shown),
    field<H, Time, &H::started>("started_ms", shown),
    field<H, Time, &H::now>("now_ms", api),
    field<H, Text<>, &H::config_hash>("config_hash", shown),
    field<H, Number, &H::generation>("generation", shown),
    field<H, Text<>, &H::last_reload>("last_reload", shown),
    field<H, Time, &H::last_reload_at>("last_reload_ms", shown),
    field<H, Flag, &H::last_reload_failed>("last_reload_failed", shown),
    field<H, Flag, &H::has_redis>("has_redis", shown),
    field<H, Text<>, &H::format_conflict>("format_conflict", shown),
    field<H, GearmanForm, &H::gearman>("gearman", shown),
    field<H, RedisForm, &H::redis>("redis", shown),
    {"slots", shown, write_slots<H>, read_slots<H>},
};

// ---- heartbeats, and hosts of the fleet

/// Difference of two clocks, ms; may be negative.
struct Offset {
  static void write(core::JsonObject& json, std::string_view name, WallTime offset, Surface) {
    json.put(name, static_cast<std::int64_t>(offset.count()));
  }
  static void read(const JsonFields& json, std::string_view name, WallTime& offset) {
    offset = json.ms(name, signed_ms_range).value_or(WallTime{0});
  }
};

using B = HostHeartbeat;
constexpr unsigned told = heartbeat | fleet;
constexpr Field<B> heartbeat_fields[] = {
    field<B, Number, &B::format>("format", told),
    field<B, Bytes, &B::host>("host", told),
    field<B, Bytes, &B::id>("host_id", fleet),
    field<B, Text<>, &B::state>("state", heartbeat),
    field<B, Number, &B::pid>("pid", told),
    field<B, Text<>, &B::version>("version", told),
    field<B, Time, &B::started>("started_ms", told),
    field<B, Text<>, &B::config_hash>("config_hash", told),
    field<B, Number, &B::generation>("generation", told),
    field<B, Time, &B::applied>("applied_ms", told),
    field<B, Time, &B::reload_failed>("reload_failed_ms", told),
    field<B, Text<>, &B::reload_error>("reload_error", told),
    field<B, Offset, &B::clock_offset>("clock_offset_ms", told),
    field<B, Number, &B::processors>("processors", told),
    {"slots", fleet, write_slots<B>, read_slots<B>},
    field<B, Number, &B::slots_used>("slots_used", heartbeat),
    field<B, Number, &B::slots_limit>("slots_limit", heartbeat),
    field<B, MaybeTime, &B::lease_margin>("lease_margin_ms", told),
    field<B, MaybeTime, &B::min_lease_margin>("min_lease_margin_ms", told),
    field<B, Number, &B::lists_version>("lists_version", heartbeat),
};

struct StateOfFleet {
  static void write(core::JsonObject& json, std::string_view name, const FleetHost& host, Surface) {
    json.put(name, host.state());
  }
  /// "unresponsive" and "unknown" are kept as they are.
  static void read(const JsonFields& json, std::string_view name, FleetHost& host) {
    host.heartbeat.state = json.text(name);
  }
};

void write_silent(core::JsonObject& json, std::string_view name, const FleetHost& host, Surface) {
  Time::write(json, name, host.unresponsive ? host.last_heartbeat : WallTime{0}, api);
}
void read_silent(const JsonFields& json, std::string_view name, FleetHost& host) {
  host.unresponsive = json.ms(name).has_value();
}

using F = FleetHost;
constexpr Field<F> fleet_fields[] = {
    {"state", fleet, StateOfFleet::write, StateOfFleet::read},
    field<F, Time, &F::last_heartbeat>("last_heartbeat_ms", fleet),
    {"unresponsive_since_ms", fleet, write_silent, read_silent},
    field<F, Flag, &F::expired>("expired", fleet),
    field<F, Text<>, &F::error>("error", fleet),
    field<F, Flag, &F::config_outdated>("config_outdated", fleet),
    field<F, Flag, &F::duplicate_name>("duplicate_name", fleet),
};

}  // namespace

void put_host(core::JsonObject& json, const HostStatus& host, Surface surface) {
  put_fields(json, host_fields, host, surface);
}

void put_host(core::JsonObject& json, const FleetHost& host) {
  put_fields(json, heartbeat_fields, host.heartbeat, fleet);
  put_fields(json, fleet_fields, host, fleet);
}

std::string to_json(FleetHost&& host, bool lists, std::size_t most) {
  core::JsonArray array;
  std::size_t bytes = 0;
  for (ListStatus& list : host.lists) {
    const std::string text = to_json(list, fleet);
    list = {};
    bytes += text.size() + 1;
    if (bytes >= most) {
      truncate_lists(host);
      break;
    }
    array.add(text);
  }
  core::AsciiObject json(512);
  put_host(json, host);
  if (!lists) return json.finish();
  json.put("lists_error", host.lists_error);
  json.put("lists_truncated", host.lists_truncated);
  std::string text = json.finish();
  text.pop_back();  // the final }; the lists of a host may be large, and are copied once
  return text.append(",\"lists\":").append(array.finish()).append("}");
}

void put_fleet(core::JsonObject& json, const FleetView& view) {
  json.put("now_ms", view.now.count());
  json.put("latest_config_hash", view.latest_config_hash);
  json.put("truncated", view.truncated);
  json.put_bytes("fleet", view.fleet);
}

FleetView read_fleet(const JsonFields& json) {
  FleetView view;
  view.now = json.ms("now_ms").value_or(WallTime{0});
  view.latest_config_hash = json.text("latest_config_hash");
  view.truncated = json.flag("truncated");
  view.fleet = json.bytes("fleet").value_or("");
  for (const JsonFields& each : json.objects("hosts")) view.hosts.push_back(read_fleet_host(each));
  return view;
}

std::vector<std::string_view> host_names(unsigned surfaces) {
  if ((surfaces & api) != 0) return names_of(host_fields, surfaces);
  std::vector<std::string_view> names = names_of(heartbeat_fields, surfaces);
  for (const std::string_view name : names_of(fleet_fields, surfaces)) names.push_back(name);
  return names;
}

HostStatus read_host(const JsonFields& json) {
  HostStatus host;
  read_fields(json, host_fields, host, api);
  return host;
}

FleetHost read_fleet_host(const JsonFields& json) {
  FleetHost host;
  read_fields(json, heartbeat_fields, host.heartbeat, fleet);
  read_fields(json, fleet_fields, host, fleet);
  host.lists_error = json.text("lists_error");
  host.lists_truncated = json.flag("lists_truncated");
  for (const JsonFields& each : json.objects("lists"))
    if (auto list = read_list(each, fleet)) host.lists.push_back(std::move(*list));
  return host;
}

}  // namespace w8y::view

namespace w8y {

std::string to_text(const HostHeartbeat& heartbeat) {
  core::JsonObject json(max_heartbeat / 4);
  view::put_fields(json, view::heartbeat_fields, heartbeat, view::heartbeat);
  return json.finish();
}

std::optional<HostHeartbeat> parse_heartbeat(std::string_view text) {
  const auto json = view::JsonFields::parse(text, max_heartbeat);
  if (!json) return std::nullopt;
  HostHeartbeat heartbeat;
  view::read_fields(*json, view::heartbeat_fields, heartbeat, view::heartbeat);
  if (heartbeat.host.empty() || heartbeat.state.empty()) return std::nullopt;
  return heartbeat;
}

}  // namespace w8y
