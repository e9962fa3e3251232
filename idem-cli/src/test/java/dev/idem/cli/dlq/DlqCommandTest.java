package dev.idem.cli.dlq;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Letter;
import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.admin.JdbcAudit;
import dev.idem.kafka.KafkaDeadLetters;
import dev.idem.kafka.KafkaInbox;
import dev.idem.kafka.KafkaInboxListener;
import dev.idem.rabbitmq.RabbitInbox;
import dev.idem.rabbitmq.RabbitInboxListener;
import dev.idem.servers.KafkaServer;
import dev.idem.servers.RabbitServer;
import dev.idem.servers.SkipWithoutServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.StringSerializer;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(SkipWithoutServer.class)
@Timeout(180)
class DlqCommandTest {
    private final String url = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    private final JdbcDataSource database = new JdbcDataSource();
    private final String name = "orders" + System.nanoTime();

    DlqCommandTest() {
        database.setURL(url);
    }

    private static Consumer refusing(String consumer, Policy policy) {
        return Consumer.named(consumer)
                .policy(policy)
                .otherwise((message, tx) -> {
                    throw new TerminalException("no", null);
                })
                .build();
    }

    @Test
    @DisplayName("RP-02 RP-03 letters of Kafka are listed, shown, and sent again once, unless that is forbidden")
    void kafka(@TempDir Path files) throws Exception {
        String servers = KafkaServer.shared().address();
        Map<String, Object> config = Map.of("bootstrap.servers", servers);
        try (Admin admin = Admin.create(config)) {
            admin.createTopics(List.of(new NewTopic(name, 1, (short) 1))).all().get();
        }
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            for (int i = 0; i < 3; i++) {
                var record = new ProducerRecord<>(name, "k", "payload " + i);
                record.headers().add("ce_id", ("m" + i).getBytes(StandardCharsets.UTF_8));
                producer.send(record).get();
            }
        }
        try (Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            letters(config, inbox, refusing("mail", Policy.defaults()), 3);
            letters(config, inbox, refusing("cards", Policy.defaults().withReplay(Policy.Replay.FORBIDDEN)), 6);
        }
        String[] where = {"--kafka", servers, "--topic", name + ".dead-letters"};

        assertThat(run(where, "list").out().lines()).hasSize(6).anyMatch(line -> line.contains("m1 FAILED: dev.idem"));
        assertThat(run(where, "list", "--consumer", "mail", "--limit", "2", "--json")
                        .out())
                .contains("\"place\":\"0-0\"", "\"id\":\"m0\"", "\"attempts\":1", "\"more\":true");
        Cli shown = run(where, "show", "0-1", "--payload", files.resolve("p").toString());
        assertThat(shown.out())
                .contains("from topic", name, "ce_id (2 bytes)", "error           dev.idem.TerminalException")
                .doesNotContain("payload 1");
        assertThat(Files.readString(files.resolve("p"))).isEqualTo("payload 1");
        assertThat(shown.out()).containsPattern("from timestamp +20\\d\\d-\\d\\d-\\d\\dT");
        Cli nowhere = run(where, "show", "7-7");
        assertThat(nowhere.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(nowhere.err()).contains("There is no dead letter at 7-7. There are: 0-0, 0-1, 0-2");
        assertThat(run(where, "show", "0-1", "--payload", "-", "--json").out())
                .contains("\"payload\":\"payload 1\",\"payloadBase64\":null");
        assertThat(run(where, "list", "--id", "m9").out()).contains("No dead letter is like that; 6 are there.");

        String[] audited = {"--reason", "repaired", "--actor", "anna", "--url", url};
        assertThat(replay(where, audited, "--all", "--dry-run").out())
                .contains("6 looked at, 3 would be sent, 3 forbidden");
        assertThat(replay(where, audited, "0-1").code()).isEqualTo(ExitCodes.OK);
        Cli rest = replay(where, audited, "--all", "--json");
        assertThat(rest.out()).contains("\"sent\":2", "\"forbidden\":3");
        assertThat(rest.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(replay(where, audited, "--consumer", "cards", "--all", "--force")
                        .out())
                .contains("3 sent, 0 forbidden");
        assertThat(run(where, "list").out()).contains("No dead letters in " + name + ".dead-letters.");
        assertThat(JdbcAudit.of(JdbcSchema.of(database)).newest())
                .extracting(JdbcAudit.Entry::consumer, JdbcAudit.Entry::action, JdbcAudit.Entry::actor)
                .contains(
                        org.assertj.core.groups.Tuple.tuple("cards", "REPLAYED", "anna"),
                        org.assertj.core.groups.Tuple.tuple("mail", "REPLAY", "anna"));
    }

    @Test
    @DisplayName("RP-03 without a database letters are sent again, and it is said that nothing is audited")
    void withoutADatabase() throws Exception {
        String servers = KafkaServer.shared().address();
        Map<String, Object> config = Map.of("bootstrap.servers", servers);
        try (Admin admin = Admin.create(config)) {
            admin.createTopics(List.of(new NewTopic(name, 1, (short) 1))).all().get();
        }
        try (var producer = new KafkaProducer<>(config, new StringSerializer(), new StringSerializer())) {
            producer.send(new ProducerRecord<>(name, "k", "payload")).get();
        }
        try (Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            letters(config, inbox, refusing("mail", Policy.defaults()), 1); // without an id, so it is rejected
        }
        String[] where = {"--kafka", servers, "--topic", name + ".dead-letters"};

        Cli dry = run(where, "replay", "--all", "--dry-run", "--reason", "count");
        assertThat(dry.out()).contains("1 would be sent");
        assertThat(dry.err()).isEmpty();
        Cli sent = run(where, "replay", "--all", "--reason", "repaired");
        assertThat(sent.code()).as(sent.err()).isEqualTo(ExitCodes.OK);
        assertThat(sent.out()).contains("1 sent");
        assertThat(sent.err()).contains("nothing of this is audited");
        assertThat(JdbcAudit.of(JdbcSchema.of(database)).newest()).isEmpty();
    }

    @Test
    void aPlaceThatIsNotThereIsSaid() throws Exception {
        String servers = KafkaServer.shared().address();
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", servers))) {
            admin.createTopics(List.of(new NewTopic(name + ".dead-letters", 1, (short) 1)))
                    .all()
                    .get();
        }
        Cli misspelt = Cli.run("dlq", "list", "--kafka", servers, "--topic", name + ".dead-leters");
        assertThat(misspelt.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(misspelt.err())
                .contains("There is no topic " + name + ".dead-leters", name + ".dead-letters")
                .hasLineCount(1);

        RabbitServer rabbit = RabbitServer.shared();
        Cli missing =
                Cli.run("dlq", "list", "--rabbitmq", "amqp://" + rabbit.host() + ":" + rabbit.port(), "--queue", name);
        assertThat(missing.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(missing.err()).contains("There is no queue " + name).hasLineCount(1);
    }

    private void letters(Map<String, Object> config, Inbox inbox, Consumer consumer, int inAll) throws Exception {
        Map<String, Object> grouped =
                Map.of("bootstrap.servers", config.get("bootstrap.servers"), "group.id", consumer.name() + name);
        try (KafkaInboxListener listener = KafkaInbox.listen(grouped, List.of(name), consumer, inbox)) {
            await(() -> KafkaDeadLetters.open(config, name + ".dead-letters"), inAll);
        }
    }

    private static void await(Supplier<DeadLetters> open, int count) throws InterruptedException {
        List<Letter> found = new ArrayList<>();
        while (found.size() < count) {
            Thread.sleep(100);
            found.clear();
            try (DeadLetters letters = open.get()) {
                for (Optional<Letter> next = letters.next(); next.isPresent(); next = letters.next()) {
                    found.add(next.get());
                }
            }
        }
    }

    @Test
    void rabbitmq() throws Exception {
        RabbitServer server = RabbitServer.shared();
        ConnectionFactory factory = new ConnectionFactory();
        factory.setHost(server.host());
        factory.setPort(server.port());
        try (var connection = factory.newConnection();
                Channel channel = connection.createChannel();
                Inbox inbox = Inbox.create(JdbcStore.create(database))) {
            channel.queueDeclare(name, true, false, false, null);
            channel.queueDeclare(name + ".dead-letters", true, false, false, null); // read before the listener is there
            channel.basicPublish(
                    "", name, new AMQP.BasicProperties.Builder().messageId("m1").build(), new byte[] {1});
            try (RabbitInboxListener listener =
                    RabbitInbox.listen(factory, name, refusing("mail", Policy.defaults()), inbox)) {
                String queue = name + ".dead-letters";
                await(() -> dev.idem.rabbitmq.RabbitDeadLetters.open(factory, queue), 1);
            }
        }
        String[] where = {
            "--rabbitmq", "amqp://" + server.host() + ":" + server.port(), "--queue", name + ".dead-letters"
        };
        assertThat(run(where, "list").out()).contains("mail  m1 FAILED");
        String[] audited = {"--reason", "repaired", "--url", url};
        assertThat(replay(where, audited, "--all").out()).contains("1 looked at, 1 sent");
        assertThat(server.messages(name)).isEqualTo(1);
        assertThat(run(where, "list").out()).contains("No dead letter");
    }

    @Test
    void whatIsWrongIsSaid() {
        String[] nowhere = {"--rabbitmq", "amqp://user:secret@", "--queue", "q"};
        assertThat(Cli.run("dlq", "list", "--queue", "q").code()).isEqualTo(ExitCodes.USAGE);
        assertThat(run(nowhere, "list", "--older-than", "soon").err()).contains("90s");
        Cli none = Cli.run("dlq", "replay", "--reason", "r", "--url", url, "--kafka", "x:1", "--topic", "t");
        assertThat(none.code()).isEqualTo(ExitCodes.USAGE);
        assertThat(none.err()).contains("--all");
        assertThat(Cli.run("dlq", "list", "--rabbitmq", "http://u:secret@h", "--queue", "q")
                        .err())
                .doesNotContain("secret")
                .contains("--rabbitmq");
    }

    private static Cli run(String[] where, String... arguments) {
        List<String> all = new ArrayList<>(List.of("dlq"));
        all.addAll(List.of(arguments));
        all.addAll(List.of(where));
        return Cli.run(all.toArray(String[]::new));
    }

    private static Cli replay(String[] where, String[] audited, String... arguments) {
        List<String> all = new ArrayList<>(List.of("replay"));
        all.addAll(List.of(arguments));
        all.addAll(List.of(audited));
        return run(where, all.toArray(String[]::new));
    }
}
