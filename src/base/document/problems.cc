#include "base/document/problems.h"

#include <fmt/format.h>

#include "base/utf8.h"

namespace streamsim {

std::string shortened(std::string_view text, std::size_t bytes_max) {
    if (text.size() <= bytes_max) return std::string(text);
    std::size_t head = bytes_max * 3 / 4;
    std::size_t tail = text.size() - bytes_max / 4;
    while (head > 0 && continues_character(text[head])) --head;
    while (tail < text.size() && continues_character(text[tail])) ++tail;
    return fmt::format("{}...{}", text.substr(0, head), text.substr(tail));
}

void ProblemList::add(std::string_view problem) {
    if (count_++ < kProblemsMax) problems_.push_back(shortened(problem));
}

void ProblemList::add(const Error& error) {
    for (const std::string& problem : error.problems) add(problem);
}

Error ProblemList::error() const {
    Error all{ErrorKind::bad_input, problems_};
    if (count_ > problems_.size()) {
        const std::size_t more = count_ - problems_.size();
        all.problems.push_back(fmt::format("{}{}and {}{} more problem{}", source_, source_.empty() ? "" : ": ",
                                           enough() ? "at least " : "", more, more == 1 ? "" : "s"));
    }
    return all;
}

}  // namespace streamsim
