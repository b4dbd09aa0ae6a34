// Templates that most tests use, compiled once for all of them: test_templates.cc defines them, test_headers.h
// declares them. Nothing else includes this.
#ifndef STREAMSIM_TEMPLATE
#define STREAMSIM_TEMPLATE extern template
#endif

STREAMSIM_TEMPLATE class std::vector<std::string>;
STREAMSIM_TEMPLATE class std::set<std::string>;
STREAMSIM_TEMPLATE class testing::internal::MatcherBase<const std::string&>;
STREAMSIM_TEMPLATE class testing::internal::MatcherBase<const std::vector<std::string>&>;
STREAMSIM_TEMPLATE class testing::Matcher<const std::vector<std::string>&>;
STREAMSIM_TEMPLATE class std::vector<testing::Matcher<const std::string&>>;

STREAMSIM_TEMPLATE class nlohmann::basic_json<>;
STREAMSIM_TEMPLATE class nlohmann::detail::serializer<nlohmann::json>;
#define STREAMSIM_PARSE(text) \
    STREAMSIM_TEMPLATE nlohmann::json nlohmann::json::parse(text, nlohmann::json::parser_callback_t, bool, bool)
STREAMSIM_PARSE(const std::string&);
STREAMSIM_PARSE(std::string&);
STREAMSIM_PARSE(std::string&&);
#undef STREAMSIM_PARSE

// Texts as values: each length is a type of its own.
#define STREAMSIM_TEXT(length) \
    STREAMSIM_TEMPLATE std::string* nlohmann::json::create<std::string>(const char(&)[length])
STREAMSIM_TEXT(2);
STREAMSIM_TEXT(3);
STREAMSIM_TEXT(4);
STREAMSIM_TEXT(5);
STREAMSIM_TEXT(6);
STREAMSIM_TEXT(7);
STREAMSIM_TEXT(8);
STREAMSIM_TEXT(9);
STREAMSIM_TEXT(10);
STREAMSIM_TEXT(11);
STREAMSIM_TEXT(12);
STREAMSIM_TEXT(13);
STREAMSIM_TEXT(14);
STREAMSIM_TEXT(15);
STREAMSIM_TEXT(16);
STREAMSIM_TEXT(17);
#undef STREAMSIM_TEXT
