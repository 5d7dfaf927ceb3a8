// Phrases of the sentences about lists and items.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "view/why.hpp"

namespace w8y::core {

/// Returns "alpha", "alpha and beta", or "alpha, beta and 12 others".
std::string name_all(const std::vector<std::string>& names);
/// Returns "No", "One", "Three" or "14", for the start of a sentence.
std::string count_word(std::size_t count);
/// Returns "1 item" or "8 items".
std::string count_of(std::size_t count, const char* one);
std::string time_text(const WhyList& list, WallTime time);
/// Returns "at 2026-01-31T12:34:56Z, in 48m".
std::string at_and_in(const WhyList& list, WallTime time);
/// Returns "since 2026-01-31T12:34:56Z, for 12m".
std::string since_text(const WhyList& list, WallTime time);
/// Returns the name of the list, escaped.
std::string list_text(const WhyList& list);
/// Returns the list as an argument of a shell command.
std::string list_argument(const WhyList& list);
/// Returns the key prefix of a schedule as an argument of a shell command.
std::string schedule_argument(const WhyList& list);
/// Returns a text of another program as the end of a sentence, with exactly one full stop.
std::string ended(std::string text);

WhySentence sentence(const char* kind, std::string text);

/// Returns the reasons why no host starts a run of the list now, or a run of a job in this queue.
/// Empty: there is none. The first reason is the answer.
std::vector<WhySentence> hindrances(const WhyList& list, std::string_view queue = {});
/// Returns sentences about hosts that have the list but do not serve it, while others do.
std::vector<WhySentence> elsewhere(const WhyList& list);
/// Returns a sentence if the host of this name is unresponsive or did not reply.
std::vector<WhySentence> doubts_about(const WhyList& list, const std::string& name);
/// Adds sentences about hosts that did not reply, so that their last list reports are used. The
/// sentences are first if no serving host has replied; then nothing proves that a claim follows.
void add_without_reply(const WhyList& list, std::vector<WhySentence>& all);
/// Returns sentences about serving hosts that have reached a limit of their own.
std::vector<WhySentence> limits_reached(const WhyList& list);
/// Describes the last change of an operator. Empty if the state of the item names the operator, or
/// if it was added or set.
std::vector<WhySentence> last_change(const WhyList& list, const WhyItem& item);
/// Explain the state of an item, one function per kind of work. The state must not be empty.
std::vector<WhySentence> why_circular_item(const WhyList& list, const WhyItem& item);
std::vector<WhySentence> why_schedule_job(const WhyList& list, const WhyItem& item);
std::vector<WhySentence> why_feed_job(const WhyList& list, const WhyItem& item);
/// Returns when the list is polled next, if nothing prevents its runs.
std::vector<WhySentence> turn_comes(const WhyList& list);

}  // namespace w8y::core
