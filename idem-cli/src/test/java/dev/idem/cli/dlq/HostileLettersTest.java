package dev.idem.cli.dlq;

import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcStore;
import dev.idem.servers.KafkaServer;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.StringDeserializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Somebody writes to the place of dead letters, where only a listener should. */
@Timeout(180)
class HostileLettersTest {
    private static final String ESCAPE = "\u001b[2J\u001b]0;owned\u0007";

    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    private final String topic = "hostile" + System.nanoTime();
    private final String other = topic + ".other";
    private final String letters = topic + ".dead-letters";
    private final Map<String, Object> config =
            Map.of("bootstrap.servers", KafkaServer.shared().address());

    @BeforeEach
    void topics() throws Exception {
        try (Admin admin = Admin.create(config)) {
            List<NewTopic> topics = List.of(topic, other, letters).stream()
                    .map(name -> new NewTopic(name, 1, (short) 1))
                    .toList();
            admin.createTopics(topics).all().get();
        }
        JdbcDataSource database = new JdbcDataSource();
        database.setURL(url);
        try (Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            inbox.register(Consumer.of("mail"));
        }
    }

    private void letter(String id, String origin) throws Exception {
        letter(id, origin, "mail");
    }

    private void letter(String id, String origin, String consumer) throws Exception {
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            var record = new ProducerRecord<>(letters, 0, "k", "payload of " + id);
            Map<String, String> headers = Map.of(
                    "ce_id",
                    id,
                    "idem-consumer",
                    consumer,
                    "idem-reason",
                    "FAILED" + ESCAPE,
                    "idem-error",
                    "a.B" + ESCAPE,
                    "idem-time",
                    "2026-01-01T00:00:00Z",
                    "idem-origin-topic",
                    origin,
                    "idem-origin-partition",
                    "0");
            headers.forEach((name, value) -> record.headers().add(name, value.getBytes(StandardCharsets.UTF_8)));
            producer.send(record).get();
        }
    }

    private Cli dlq(String command, String... arguments) {
        List<String> all = new ArrayList<>(List.of("dlq", command));
        all.addAll(List.of(arguments));
        all.addAll(List.of("--kafka", KafkaServer.shared().address(), "--topic", letters));
        if (command.equals("replay")) {
            all.addAll(List.of("--reason", "repaired", "--actor", "anna", "--url", url));
        }
        return Cli.run(all.toArray(String[]::new));
    }

    private List<String> payloads(String name) {
        try (var consumer = new KafkaConsumer<>(config, new StringDeserializer(), new StringDeserializer())) {
            TopicPartition partition = new TopicPartition(name, 0);
            consumer.assign(List.of(partition));
            consumer.seekToBeginning(List.of(partition));
            long end = consumer.endOffsets(List.of(partition)).get(partition);
            List<String> found = new ArrayList<>();
            while (consumer.position(partition) < end) {
                consumer.poll(Duration.ofMillis(100)).forEach(record -> found.add(record.value()));
            }
            return found;
        }
    }

    @Test
    @DisplayName("a forged letter does not decide where it goes, and one that cannot be sent does not stop the others")
    void originsAndFailures() throws Exception {
        String broken = "no such topic" + ESCAPE;
        letter("m0", broken);
        letter("m1", topic);
        letter("m2", other);
        letter("m3", topic, "unknown" + ESCAPE);
        letter("m4", topic);

        Cli dry = dlq("replay", "--all", "--dry-run", "--to", topic, "--to", broken);
        assertThat(dry.out())
                .contains("5 looked at, 4 would be sent", "to " + topic + ": 3", "not to " + other + ": 1");

        Cli run = dlq("replay", "--all", "--to", topic, "--to", broken);
        assertThat(run.out()).contains("2 sent, 0 forbidden, 1 from origins that are not allowed, 2 failed");
        assertThat(run.out()).contains("failed: 0-0 to no such topic\\u{1B}[2J");
        assertThat(run.out() + run.err()).doesNotContain("\u001b", "\u0007");
        assertThat(run.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(payloads(topic)).containsExactly("payload of m1", "payload of m4");
        assertThat(payloads(other)).isEmpty();

        Cli rest = dlq("replay", "--all", "--json"); // the default is the topic that the letters are named after
        assertThat(rest.out())
                .contains("\"sent\":0", "\"failed\":1", "\"notAllowed\":{")
                .contains(other + "\":1");
        assertThat(payloads(other)).isEmpty();
        assertThat(dlq("replay", "--all", "--to", other).code()).isEqualTo(ExitCodes.OK);
        assertThat(payloads(other)).containsExactly("payload of m2");
    }

    @Test
    @DisplayName("where the name of the letters does not say where they belong, --to must")
    void originsMustBeSaid() {
        Cli unsaid = Cli.run(
                "dlq", "replay", "--all", "--kafka", "x:1", "--topic", "letters", "--reason", "r", "--url", url);
        assertThat(unsaid.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(unsaid.err()).contains("--to");
    }

    @Test
    @DisplayName("what terminals obey is escaped in answers, errors, stack traces and log lines")
    void escapes(@TempDir Path files) throws Exception {
        letter("m0" + ESCAPE, topic + ESCAPE, "mail" + ESCAPE);
        Path settings = Files.writeString(files.resolve("client.properties"), "client.id=q\\u001b[2J\\u0007");
        for (Cli cli : List.of(dlq("list"), dlq("show", "0-0"), dlq("list", "--json"))) {
            assertThat(cli.out()).contains("mail").doesNotContain("\u001b", "\u0007");
        }
        PrintStream stderr = System.err;
        ByteArrayOutputStream logged = new ByteArrayOutputStream();
        System.setErr(new PrintStream(logged, true, StandardCharsets.UTF_8));
        Cli failed;
        try {
            failed = Cli.run(
                    "dlq",
                    "list",
                    "--verbose",
                    "--kafka",
                    KafkaServer.shared().address(),
                    "--client-config",
                    settings.toString(),
                    "--topic",
                    "q" + ESCAPE);
        } finally {
            System.setErr(stderr);
        }
        assertThat(failed.err()).contains("\\u{1B}[2J", "\tat ").doesNotContain("\u001b", "\u0007");
        assertThat(logged.toString(StandardCharsets.UTF_8))
                .contains("q\\u{1B}[2J")
                .doesNotContain("\u001b", "\u0007");
    }

    @Test
    @DisplayName("a payload goes to a new file that only its owner reads")
    void payloadFiles(@TempDir Path files) throws Exception {
        letter("m0", topic);
        Path file = files.resolve("payload");
        assertThat(dlq("show", "0-0", "--payload", file.toString()).code()).isEqualTo(ExitCodes.OK);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(file)))
                .isEqualTo("rw-------");
        Files.writeString(file, "mine");
        Cli again = dlq("show", "0-0", "--payload", file.toString());
        assertThat(again.code()).isEqualTo(ExitCodes.ERROR);
        assertThat(again.err()).contains("is there already, and is not overwritten");
        assertThat(Files.readString(file)).isEqualTo("mine");
    }
}
