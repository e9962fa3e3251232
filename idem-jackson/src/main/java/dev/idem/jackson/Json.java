package dev.idem.jackson;

import java.util.Objects;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.ObjectMapper;
import tools.jackson.databind.json.JsonMapper;

/** The mapper for input that nobody trusts, and the check of a mapper that somebody else made. */
final class Json {
    static final int MAX_BYTES = 16 * 1024 * 1024;
    static final int MAX_DEPTH = 100;
    static final int MAX_NUMBER_LENGTH = 100;
    static final int MAX_NAME_LENGTH = 1_000;

    /** Immutable, and costly to warm up, so there is one. */
    private static final JsonMapper DEFAULT = JsonMapper.builder(JsonFactory.builder()
                    .streamReadConstraints(StreamReadConstraints.builder()
                            .maxNestingDepth(MAX_DEPTH)
                            .maxDocumentLength(MAX_BYTES)
                            .maxStringLength(MAX_BYTES)
                            .maxNumberLength(MAX_NUMBER_LENGTH)
                            .maxNameLength(MAX_NAME_LENGTH)
                            .build())
                    .build())
            .disable(DeserializationFeature.FAIL_ON_UNKNOWN_PROPERTIES)
            .enable(DeserializationFeature.FAIL_ON_TRAILING_TOKENS)
            .build();

    private Json() {}

    static JsonMapper defaultMapper() {
        return DEFAULT;
    }

    /** With default typing a payload names the classes that are made from it: a known way to run foreign code. */
    static ObjectMapper checked(ObjectMapper mapper) {
        Objects.requireNonNull(mapper, "mapper");
        var config = mapper.deserializationConfig();
        if (config.getDefaultTyper(config.constructType(Object.class)) != null) {
            throw new IllegalArgumentException("The mapper has default typing switched on, which lets a payload choose"
                    + " classes: use a mapper without it, and annotate the types that need subtypes");
        }
        return mapper;
    }
}
