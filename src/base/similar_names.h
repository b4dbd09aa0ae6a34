// The names that a mistyped one was probably meant to be, for error messages.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace streamsim {

/// The edits between two texts: a letter too much, too few, another letter, or two neighbours swapped. Letters
/// that differ only in case are alike.
std::size_t edits_between(std::string_view a, std::string_view b);

/// The nearest of `known`, at most a third of the typed letters (and at least one) away from it; several where
/// they are equally near, those with its first letter in front. Empty: none is near, or `typed` is known.
std::vector<std::string> similar_names(std::string_view typed, const std::vector<std::string>& known);

/// "; did you mean \"NAME\"?", or "" where no name is near.
std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known);

}  // namespace streamsim
