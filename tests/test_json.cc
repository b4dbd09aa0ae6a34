// The JSON values of all tests (test_headers.h), compiled once.
#include <nlohmann/json.hpp>

template class nlohmann::basic_json<>;
