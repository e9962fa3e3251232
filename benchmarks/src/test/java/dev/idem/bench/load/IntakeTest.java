package dev.idem.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.bench.contender.Broker;
import dev.idem.bench.contender.BrokerContender;
import dev.idem.bench.contender.BrokerContenders;
import dev.idem.bench.contender.KafkaBroker;
import dev.idem.bench.contender.Meter;
import dev.idem.bench.contender.Payments;
import dev.idem.bench.contender.RabbitBroker;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import java.sql.SQLException;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(SkipWithoutServer.class)
@Timeout(180)
class IntakeTest {
    private static final int MESSAGES = 1_200;
    private static final Workload WORKLOAD = new Workload("test", 1, 0, 500);

    private static HikariDataSource pool;

    @BeforeAll
    static void open() throws SQLException {
        PostgresServer server = PostgresServer.shared();
        var config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl(server.createDatabase()));
        pool = new HikariDataSource(config);
        Payments.create(pool);
    }

    @AfterAll
    static void close() {
        pool.close();
    }

    @Test
    void everyContenderPaysAndAcknowledgesEachRecordOfATopicOnce() throws Exception {
        try (Broker kafka = KafkaBroker.start()) {
            eachIsExact(kafka, BrokerContenders.withPositions(pool));
        }
    }

    @Test
    void everyContenderPaysAndAcknowledgesEachMessageOfAQueueOnce() throws Exception {
        try (Broker rabbit = RabbitBroker.start()) {
            eachIsExact(rabbit, BrokerContenders.withMarkers(pool));
            whoAcknowledgesNothingIsFoundOut(rabbit);
        }
    }

    private static void eachIsExact(Broker broker, List<BrokerContender> contenders) throws Exception {
        for (BrokerContender contender : contenders) {
            for (int i = 0; i < 2; i++) { // a second time from the same broker
                Measurement measured = new Intake(pool, broker).rate(contender, WORKLOAD, MESSAGES);

                assertThat(measured.perSecond()).as(contender.name()).isPositive();
            }
        }
    }

    private static void whoAcknowledgesNothingIsFoundOut(Broker broker) {
        BrokerContender forgetful = new BrokerContender() {
            @Override
            public String name() {
                return "forgetful";
            }

            @Override
            public List<String> tables() {
                return List.of();
            }

            @Override
            public int share() {
                return MESSAGES;
            }

            @Override
            public Broker.Taking start(Broker from, Meter meter) throws Exception {
                Broker.Taking floor = BrokerContenders.withMarkers(pool).get(0).start(from, meter);
                return () -> {
                    floor.close();
                    from.fill(1); // as if it had not been acknowledged
                };
            }
        };
        assertThatThrownBy(() -> new Intake(pool, broker).rate(forgetful, WORKLOAD, MESSAGES))
                .hasMessageContaining("forgetful left 1 of 1 messages without an acknowledgement");
    }
}
