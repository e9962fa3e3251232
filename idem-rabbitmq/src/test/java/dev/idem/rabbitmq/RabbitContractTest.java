package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Header;
import dev.idem.Inbox;
import dev.idem.RetryPolicy;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.Listener;
import dev.idem.broker.ListenerState;
import dev.idem.jdbc.JdbcStore;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.BrokerContract;
import dev.idem.test.contract.BrokerUnderTest;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
class RabbitContractTest extends BrokerContract {
    @Override
    protected BrokerUnderTest broker() throws Exception {
        return new Broker(new Bench());
    }

    @Override
    protected DataSource database() throws Exception {
        return Bench.database();
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
        return JdbcStore.create(dataSource);
    }

    private record Broker(Bench bench) implements BrokerUnderTest {
        @Override
        public void send(Sent message) throws Exception {
            BasicProperties.Builder properties = new BasicProperties.Builder().deliveryMode(2);
            if (!message.id().isEmpty()) {
                properties.messageId(message.id());
            }
            Map<String, Object> headers = new HashMap<>(message.headers().stream()
                    .collect(Collectors.groupingBy(
                            Header::name, Collectors.mapping(Header::text, Collectors.<Object>toList()))));
            headers.put("ordering-key", message.key());
            bench.send(properties.headers(headers).build(), message.payload());
        }

        @Override
        public Listening listen(Consumer consumer, Inbox inbox, RetryPolicy retry) {
            RabbitInboxListener listener = RabbitInbox.builder(bench.factory, bench.queue, consumer, inbox)
                    .retry(retry)
                    .delays(Duration.ofSeconds(1))
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
            String queue = wishes.misspelt() ? bench.queue + "-misspelt" : bench.queue;
            return RabbitInbox.builder(bench.factory, queue, consumer, inbox)
                    .retry(wishes.retry())
                    .maxPendingBytes(wishes.maxPendingBytes())
                    .delays(Duration.ofSeconds(1))
                    .listen();
        }

        /** A queue that is full from the beginning. */
        @Override
        public void breakLetters() throws Exception {
            bench.with(channel -> {
                channel.queueDelete(letters());
                Map<String, Object> full = Map.of("x-max-length", 0, "x-overflow", "reject-publish");
                channel.queueDeclare(letters(), true, false, false, full);
            });
        }

        @Override
        public void mendLetters() throws Exception {
            bench.with(channel -> channel.queueDelete(letters()));
        }

        /** The listener makes it again. */
        @Override
        public void removeLetters() throws Exception {
            bench.with(channel -> channel.queueDelete(letters()));
        }

        @Override
        public void blockPublishers(boolean blocked) {
            bench.server.memoryAlarm(blocked);
        }

        private String letters() {
            return bench.queue + ".dead-letters";
        }

        @Override
        public Optional<List<String>> warnings() {
            return Optional.of(Warnings.fromNowOn());
        }

        @Override
        public long unsettled() {
            return bench.messages();
        }

        @Override
        public DeadLetters deadLetters() {
            return bench.deadLetters();
        }

        @Override
        public void kill() {
            bench.server.killHard();
        }

        @Override
        public void restart() {
            bench.server.restart();
        }

        @Override
        public void close() throws Exception {
            bench.close();
        }
    }
}
