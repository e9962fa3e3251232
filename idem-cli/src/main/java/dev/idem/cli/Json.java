package dev.idem.cli;

import tools.jackson.databind.json.JsonMapper;

/** Answers for machines: one object on one line, which does no harm to a terminal either. */
public final class Json {
    private static final JsonMapper MAPPER = JsonMapper.builder().build();

    private Json() {}

    public static String line(Object value) {
        String json = MAPPER.writeValueAsString(value);
        StringBuilder line = new StringBuilder(json.length());
        json.chars().forEach(c -> append(line, (char) c));
        return line.toString();
    }

    /** JSON lets through some characters that terminals obey, or that hide or turn text; they stand inside strings only. */
    private static void append(StringBuilder line, char c) {
        switch (Character.getType(c)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE -> line.append(String.format("\\u%04X", (int) c));
            default -> line.append(c);
        }
    }
}
