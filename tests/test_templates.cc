// The templates of test_templates.h, compiled once for all tests.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#define STREAMSIM_TEMPLATE template
#include "test_templates.h"
