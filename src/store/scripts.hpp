// The Lua scripts, which the build embeds from src/store/lua/*.lua (listed in meson.build).
// Comments and indentation are removed, and parts (src/store/lua/parts) are included. The header of
// each file describes its keys, arguments and reply.
#pragma once

#include "redis/script.hpp"

namespace w8y::store::scripts {

extern const redis::Script add;
extern const redis::Script claim;
extern const redis::Script claim_item;
extern const redis::Script feed_config;
extern const redis::Script feed_create;
extern const redis::Script feed_delete;
extern const redis::Script feed_get;
extern const redis::Script feed_ids;
extern const redis::Script feed_items;
extern const redis::Script feed_leases;
extern const redis::Script feed_publish;
extern const redis::Script feed_put;
extern const redis::Script feed_retract;
extern const redis::Script feed_starts;
extern const redis::Script find;
extern const redis::Script find_changes;
extern const redis::Script gearman_record;
extern const redis::Script quarantine_page;
extern const redis::Script items_page;
extern const redis::Script job_change;
extern const redis::Script job_put;
extern const redis::Script job_return;
extern const redis::Script job_settle;
extern const redis::Script job_cleanup;
extern const redis::Script job_maintain;
extern const redis::Script job_stall_at_end;
extern const redis::Script job_recover;
extern const redis::Script job_renew;
extern const redis::Script job_claim;
extern const redis::Script change_long_items;
extern const redis::Script move_first;
extern const redis::Script peek;
extern const redis::Script list_stats;
extern const redis::Script quarantine;
extern const redis::Script record_changes;
extern const redis::Script release;
extern const redis::Script remove;
extern const redis::Script renew;
extern const redis::Script rerun;
extern const redis::Script schedule_count;
extern const redis::Script schedule_dispatch;
extern const redis::Script schedule_due;
extern const redis::Script schedule_earlier;
extern const redis::Script schedule_settle;
extern const redis::Script schedule_recover;
extern const redis::Script schedule_renew;
extern const redis::Script schedule_run;
extern const redis::Script schedule_set;
extern const redis::Script schedule_claim;
extern const redis::Script schedule_unset;
extern const redis::Script series_add;
extern const redis::Script settle;
extern const redis::Script shorten;
extern const redis::Script sorted_edit;
extern const redis::Script sorted_insert;
extern const redis::Script sorted_move;
extern const redis::Script item_states;
extern const redis::Script recover;
extern const redis::Script sweep;
extern const redis::Script undo_claim;

}  // namespace w8y::store::scripts
