// What the sentences about lists and about items are made of.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "view/why.hpp"

namespace w8y::core {

/// "alpha", "alpha and beta", "alpha, beta and 12 others"
std::string name_all(const std::vector<std::string>& names);
/// "No", "One", "Three", "14": for the beginning of a sentence.
std::string count_word(std::size_t count);
/// "1 item", "8 items"
std::string count_of(std::size_t count, const char* one);
std::string time_text(const WhyList& list, WallTime time);
/// "at 2026-01-31T12:34:56Z, in 48m"
std::string at_and_in(const WhyList& list, WallTime time);
/// "since 2026-01-31T12:34:56Z, for 12m"
std::string since_text(const WhyList& list, WallTime time);
/// The list's name, escaped.
std::string list_text(const WhyList& list);
/// What somebody else has written, as the end of a sentence, which ends in one dot.
std::string ended(std::string text);

WhySentence sentence(const char* kind, std::string text);

/// What keeps every host from beginning a run of the list now, or the jobs of one of its queues;
/// empty: nothing. The first one is the answer.
std::vector<WhySentence> hindrances(const WhyList& list, std::string_view queue = {});
/// Hosts that have the list and do not serve it, while others do.
std::vector<WhySentence> elsewhere(const WhyList& list);
/// Of hosts that serve it, those that are at a limit of their own.
std::vector<WhySentence> limits_reached(const WhyList& list);
/// When what nothing hinders is looked at.
std::vector<WhySentence> turn_comes(const WhyList& list);

}  // namespace w8y::core
