package dev.idem.cli;

import tools.jackson.databind.json.JsonMapper;

/** Answers for machines: one object on one line. */
public final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private Json() {}

    public static String line(Object value) {
        return MAPPER.writeValueAsString(value);
    }
}
