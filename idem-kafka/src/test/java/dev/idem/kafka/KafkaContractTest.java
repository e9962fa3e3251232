package dev.idem.kafka;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.BrokerContract;
import dev.idem.test.contract.BrokerUnderTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import javax.sql.DataSource;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.quota.ClientQuotaAlteration;
import org.apache.kafka.common.quota.ClientQuotaEntity;
import org.apache.kafka.common.quota.ClientQuotaFilter;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
class KafkaContractTest extends BrokerContract {
    @Override
    protected BrokerUnderTest broker() throws Exception {
        return new Kafka();
    }

    @Override
    protected DataSource database() {
        return KafkaBed.newDatabase();
    }

    @Override
    protected int databasePort() {
        return PostgresServer.shared().port();
    }

    @Override
    protected DataSource database(DataSource database, int port) {
        HikariConfig config = new HikariConfig();
        String direct = ((HikariDataSource) database).getJdbcUrl();
        config.setJdbcUrl(direct.replace(":" + databasePort() + "/", ":" + port + "/"));
        config.setMaximumPoolSize(8);
        return new HikariDataSource(config);
    }

    @Override
    protected MarkerStore store(DataSource dataSource) {
        return JdbcStore.builder(dataSource).schemaMode(SchemaMode.CREATE).build();
    }

    private static final class Kafka implements BrokerUnderTest {
        private static final double BYTES_PER_SECOND = 15;

        private final KafkaBed bed = new KafkaBed(2);

        private Kafka() throws Exception {}

        @Override
        public void send(Sent message) throws Exception {
            var record =
                    new ProducerRecord<>(bed.topic, KafkaBed.bytes(message.key()), KafkaBed.bytes(message.payload()));
            if (!message.id().isEmpty()) {
                record.headers().add("ce_id", KafkaBed.bytes(message.id()));
            }
            message.headers().forEach(header -> record.headers().add(header.name(), header.value()));
            KafkaBed.send(record);
        }

        @Override
        public Listening listen(Consumer consumer, Inbox inbox, RetryPolicy retry) {
            KafkaInboxListener listener = KafkaInbox.builder(bed.config, List.of(bed.topic), consumer, inbox)
                    .retry(retry)
                    .listen();
            return new Listening() {
                @Override
                public ListenerState state() {
                    return listener.state();
                }

                @Override
                public void close(Duration longest) {
                    listener.close(longest);
                }
            };
        }

        @Override
        public Listener listen(Consumer consumer, Inbox inbox, Wishes wishes) {
            if (wishes.patient()) { // by which the quota knows the publisher of letters
                bed.config.put("client.id", bed.group);
            }
            List<String> topics = List.of(wishes.misspelt() ? "misspelt-" + bed.topic : bed.topic);
            return KafkaInbox.builder(bed.config, topics, consumer, inbox)
                    .retry(wishes.retry())
                    .maxPendingBytes(wishes.maxPendingBytes())
                    .listen();
        }

        @Override
        public void breakLetters() throws Exception {
            KafkaBed.largest(letters(), 1);
        }

        @Override
        public void mendLetters() throws Exception {
            KafkaBed.largest(letters(), 1_000_000);
        }

        @Override
        public void removeLetters() throws Exception {
            KafkaBed.admin().deleteTopics(List.of(letters())).all().get();
        }

        @Override
        public void restoreLetters() throws Exception {
            KafkaBed.createTopic(letters(), 1);
        }

        /**
         * A quota that the first letter exceeds: the broker takes it, and lets its publisher wait for so long that the next
         * ones fail at first. When the quota is gone, that time goes by all the same.
         */
        @Override
        public void blockPublishers(boolean blocked) throws Exception {
            var publisher = new ClientQuotaEntity(Map.of(ClientQuotaEntity.CLIENT_ID, bed.group + "-dead-letters"));
            var rate = new ClientQuotaAlteration.Op("producer_byte_rate", blocked ? BYTES_PER_SECOND : null);
            KafkaBed.admin()
                    .alterClientQuotas(List.of(new ClientQuotaAlteration(publisher, List.of(rate))))
                    .all()
                    .get();
            KafkaBed.until(
                    "the broker knows it",
                    () -> KafkaBed.admin()
                                    .describeClientQuotas(ClientQuotaFilter.all())
                                    .entities()
                                    .get()
                                    .containsKey(publisher)
                            == blocked);
        }

        private String letters() {
            return bed.topic + ".dead-letters";
        }

        @Override
        public Optional<List<String>> warnings() {
            return Optional.of(Warnings.fromNowOn());
        }

        @Override
        public long unsettled() throws Exception {
            return bed.unsettled();
        }

        @Override
        public DeadLetters deadLetters() {
            return bed.deadLetters();
        }

        @Override
        public void kill() {
            KafkaBed.server().killHard();
        }

        @Override
        public void restart() {
            KafkaBed.server().restart();
        }

        @Override
        public void close() {
            bed.close();
        }
    }
}
