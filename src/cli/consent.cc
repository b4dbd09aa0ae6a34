#include "cli/consent.h"

#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>

namespace streamsim {

bool can_ask() {
    return isatty(STDIN_FILENO) != 0 && isatty(STDERR_FILENO) != 0;
}

bool ask(const std::string& question) {
    std::fprintf(stderr, "%s [y/N] ", question.c_str());
    std::fflush(stderr);
    std::array<char, 64> line{};
    if (std::fgets(line.data(), line.size(), stdin) == nullptr) {
        std::fputc('\n', stderr);
        return false;
    }
    std::string answer(line.data());
    while (!answer.empty() && std::strchr(" \t\r\n", answer.back()) != nullptr) answer.pop_back();
    return answer == "y" || answer == "Y" || answer == "yes" || answer == "Yes" || answer == "YES";
}

}  // namespace streamsim
