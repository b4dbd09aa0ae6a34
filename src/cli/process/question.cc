#include "cli/process/question.h"

#include <unistd.h>

#include <cstdio>

namespace streamsim::cli {
namespace {

constexpr std::size_t kAnswerMax = 64;  // the rest of a longer line does not count

}  // namespace

bool can_ask() {
    return ::isatty(STDIN_FILENO) != 0 && ::isatty(STDERR_FILENO) != 0;
}

bool ask(const std::string& question) {
    std::fprintf(stderr, "%s [y/N] ", question.c_str());
    std::fflush(stderr);
    std::string answer;
    for (char each = 0; each != '\n';) {  // not by stdin: whoever leaves this thread behind flushes all streams
        if (::read(STDIN_FILENO, &each, 1) != 1) {
            std::fputc('\n', stderr);
            return false;
        }
        const bool space = each == ' ' || each == '\t' || each == '\r' || each == '\n';
        if (!space && answer.size() < kAnswerMax) answer.push_back(each);
    }
    return answer == "y" || answer == "Y" || answer == "yes" || answer == "Yes" || answer == "YES";
}

}  // namespace streamsim::cli
