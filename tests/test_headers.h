// The headers that most tests include, precompiled once for all of them (tools/cmake/streamsim_targets.cmake).
// A test includes the headers that it needs all the same.
#pragma once

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "test_templates.h"

namespace streamsim::tests::precompiled {

// The traits of JSON values that most tests use are worked out here once. Nothing is computed.
using Json = nlohmann::json;
using EqualsNumber = decltype(std::declval<const Json&>() == 5);
using EqualsFlag = decltype(std::declval<const Json&>() == true);
using EqualsText = decltype(std::declval<const Json&>() == "x");
using EqualsString = decltype(std::declval<const Json&>() == std::string());
using IsMore = decltype(std::declval<const Json&>() > 5);
using Member = decltype(std::declval<const Json&>()["x"]);
using Assigned = decltype(std::declval<Json&>()["x"] = 5);
using Integer = decltype(std::declval<const Json&>().get<std::int64_t>());
using String = decltype(std::declval<const Json&>().get<std::string>());
using Object = decltype(Json{{"a", 1}, {"b", "c"}});

}  // namespace streamsim::tests::precompiled
