package dev.idem.bench.report;

import java.util.List;
import java.util.Map;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** All that a run found, as it is written for machines. */
public record Report(String bench, Machine machine, Map<String, String> versions, List<Row> cases) {
    private static final JsonMapper MAPPER = JsonMapper.builder()
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    public String json() {
        return MAPPER.writeValueAsString(this) + "\n";
    }

    public static Report parse(String json) {
        return MAPPER.readValue(json, Report.class);
    }
}
