#include "base/similar_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace streamsim {
namespace {

constexpr std::size_t kNameBytesMax = 80;  // of a name that is worth the comparison

char lower(char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::size_t edits_between(std::string_view a, std::string_view b) {
    // Rows of the table of distances between the beginnings of both: the one before the last, the last, this
    // one.
    std::array<std::vector<std::size_t>, 3> rows;
    for (auto& row : rows) row.resize(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) rows[1][j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        auto& [before, last, row] = rows;
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const bool alike = lower(a[i - 1]) == lower(b[j - 1]);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (alike ? 0 : 1)});
            const bool swapped =
                i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) && lower(a[i - 2]) == lower(b[j - 1]);
            if (swapped) row[j] = std::min(row[j], before[j - 2] + 1);
        }
        std::rotate(rows.begin(), rows.begin() + 1, rows.end());
    }
    return rows[1][b.size()];
}

std::vector<std::string> similar_names(std::string_view typed, const std::vector<std::string>& known) {
    std::vector<std::string> nearest;
    if (typed.empty() || typed.size() > kNameBytesMax) return nearest;
    std::size_t least = std::max<std::size_t>(typed.size() / 3, 1);
    for (const std::string& name : known) {
        if (name == typed) return {};
        if (name.empty() || name.size() > kNameBytesMax) continue;
        if (std::max(name.size(), typed.size()) - std::min(name.size(), typed.size()) > least) continue;
        const std::size_t edits = edits_between(typed, name);
        if (edits > least || edits >= std::max(name.size(), typed.size())) continue;
        if (edits < least) nearest.clear();
        least = edits;
        nearest.push_back(name);
    }
    std::ranges::stable_sort(
        nearest, {}, [typed](const std::string& name) { return lower(name.front()) != lower(typed.front()); });
    nearest.erase(std::unique(nearest.begin(), nearest.end()), nearest.end());
    return nearest;
}

std::string did_you_mean(std::string_view typed, const std::vector<std::string>& known) {
    const std::vector<std::string> near = similar_names(typed, known);
    if (near.empty()) return {};
    return fmt::format("; did you mean \"{}\"?", fmt::join(near, "\" or \""));
}

}  // namespace streamsim
