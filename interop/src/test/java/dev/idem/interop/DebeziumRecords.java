package dev.idem.interop;

import io.debezium.data.Envelope;
import io.debezium.data.Uuid;
import io.debezium.transforms.outbox.EventRouter;
import java.time.Instant;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaBuilder;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.storage.HeaderConverter;

/** Records as Debezium's connector for PostgreSQL makes them, its outbox router, and the converters of Kafka Connect. */
final class DebeziumRecords {
    private static final Instant AT = Instant.parse("2026-01-02T03:04:05Z");

    private static final Schema ROW = SchemaBuilder.struct()
            .name("shop.public.outbox.Value")
            .optional()
            .field("id", Uuid.schema())
            .field("aggregatetype", Schema.STRING_SCHEMA)
            .field("aggregateid", Schema.STRING_SCHEMA)
            .field("type", Schema.STRING_SCHEMA)
            .field("payload", Schema.OPTIONAL_STRING_SCHEMA)
            .build();
    private static final Schema SOURCE = SchemaBuilder.struct()
            .name("io.debezium.connector.postgresql.Source")
            .field("table", Schema.STRING_SCHEMA)
            .field("lsn", Schema.INT64_SCHEMA)
            .build();
    private static final Schema KEY = SchemaBuilder.struct()
            .name("shop.public.outbox.Key")
            .field("id", Uuid.schema())
            .build();
    private static final Envelope ENVELOPE = Envelope.defineSchema()
            .withName("shop.public.outbox.Envelope")
            .withRecord(ROW)
            .withSource(SOURCE)
            .build();

    private DebeziumRecords() {}

    static JsonConverter json(boolean schemas) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", Boolean.toString(schemas), "converter.type", "value"));
        return converter;
    }

    private static Struct row(String id, String aggregate, String type, String payload) {
        return new Struct(ROW)
                .put("id", id)
                .put("aggregatetype", "order")
                .put("aggregateid", aggregate)
                .put("type", type)
                .put("payload", payload);
    }

    private static Struct source() {
        return new Struct(SOURCE).put("table", "outbox").put("lsn", 42L);
    }

    private static SourceRecord change(String id, Struct value) {
        return new SourceRecord(
                Map.of(), Map.of(), "shop.public.outbox", KEY, new Struct(KEY).put("id", id), ENVELOPE.schema(), value);
    }

    /** An insert into the outbox table, as the router publishes it. */
    static SourceRecord routed(String id, String aggregate, String type, String payload) {
        try (EventRouter<SourceRecord> router = new EventRouter<>()) {
            router.configure(Map.of("table.fields.additional.placement", "type:header:eventType"));
            return router.apply(change(id, ENVELOPE.create(row(id, aggregate, type, payload), source(), AT)));
        }
    }

    /** A row of an ordinary table is deleted. */
    static SourceRecord deleted(String id) {
        return change(id, ENVELOPE.delete(row(id, "order-7", "OrderPlaced", "{}"), source(), AT));
    }

    /** What Kafka Connect sends. */
    static ProducerRecord<byte[], byte[]> converted(
            SourceRecord record, String topic, JsonConverter values, HeaderConverter headers) {
        var converted = new ProducerRecord<>(
                topic,
                values.fromConnectData(topic, record.keySchema(), record.key()),
                values.fromConnectData(topic, record.valueSchema(), record.value()));
        for (Header header : record.headers()) {
            converted
                    .headers()
                    .add(header.key(), headers.fromConnectHeader(topic, header.key(), header.schema(), header.value()));
        }
        return converted;
    }
}
