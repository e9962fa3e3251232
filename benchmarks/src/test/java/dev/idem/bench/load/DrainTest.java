package dev.idem.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Payments;
import dev.idem.bench.contender.QueueContender;
import dev.idem.bench.contender.QueueContenders;
import dev.idem.bench.contender.QueueDepth;
import dev.idem.bench.contender.Sql;
import dev.idem.servers.PostgresServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class DrainTest {
    private static final int MESSAGES = 250;

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
    void everyContenderPaysEachStoredMessageOnce() throws Exception {
        for (QueueContender contender : QueueContenders.drain(pool)) {
            Measurement measured = new Drain(pool).rate(contender, new Workload("test", 3, 0, 1), MESSAGES);

            assertThat(measured.perSecond()).as(contender.name()).isPositive();
            assertThat(Sql.number(pool, contender.left())).as(contender.name()).isZero();
        }
    }

    @Test
    void everyPromptContenderIsHeardOf() throws Exception {
        for (QueueContender contender : QueueContenders.latency(pool)) {
            Measurement measured = new Drain(pool).latency(contender, new Workload("test", 2, 0, 1), 5, 1);

            assertThat(measured.p99Micros()).as(contender.name()).isGreaterThanOrEqualTo(measured.p50Micros());
            assertThat(measured.p50Micros()).as(contender.name()).isPositive();
        }
    }

    @Test
    void whatIsStoredIsCounted() throws Exception {
        for (Contender contender : QueueContenders.store(pool, 50)) {
            Measurement measured =
                    new Load(pool).measure(contender, new Workload("test", 2, 0, 50), Duration.ofMillis(50));

            assertThat(measured.perSecond()).isPositive();
            contender.close();
        }
    }

    @Test
    void aQueueStaysAsDeepAsItWasFilled() throws Exception {
        var queue = new QueueDepth(pool, "deep_", 3_000);
        queue.create();
        for (int i = 0; i < 2; i++) {
            queue.fill();

            assertThat(Sql.number(pool, "SELECT count(*) FROM deep_queue")).isEqualTo(3_000);
            assertThat(queue.perSecond(500)).isPositive();
            assertThat(Sql.number(pool, "SELECT count(*) FROM deep_queue")).isLessThan(3_000);
        }
    }

    @Test
    void aPaymentTooManyIsFoundOut() throws Exception {
        Effects.empty(pool, List.of());
        Sql.execute(pool, "INSERT INTO payment (order_id, cents) VALUES ('0-1', 1), ('0-1', 1)");

        assertThatThrownBy(() -> Effects.PAYMENTS.check(pool, "double", new Workload("test", 1, 0, 1), 2))
                .isInstanceOf(WrongCountException.class)
                .hasMessageContaining("WRONG COUNT: double");
    }
}
