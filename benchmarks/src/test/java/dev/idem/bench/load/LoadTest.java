package dev.idem.bench.load;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.bench.contender.Contender;
import dev.idem.bench.contender.Contenders;
import dev.idem.bench.contender.Delivery;
import dev.idem.bench.contender.Payments;
import dev.idem.servers.PostgresServer;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class LoadTest {
    private static final Duration MOMENT = Duration.ofMillis(50);

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
    void everyContenderPaysEachMessageOnce() throws Exception {
        for (Contender contender : Contenders.inline(pool)) {
            for (int duplicates : new int[] {0, 50, 100}) {
                Measurement measured =
                        new Load(pool).measure(contender, new Workload("test", 4, duplicates, 1), MOMENT);

                assertThat(measured.perSecond()).isPositive();
                assertThat(measured.p99Micros()).isPositive();
            }
            contender.close();
        }
    }

    @Test
    void aContenderThatPaysNothingIsFoundOut() {
        Contender idle = new Contender() {
            @Override
            public String name() {
                return "idle";
            }

            @Override
            public void handle(List<Delivery> batch) {}

            @Override
            public List<String> tables() {
                return List.of();
            }
        };

        assertThatThrownBy(() -> new Load(pool).measure(idle, new Workload("test", 1, 0, 1), MOMENT))
                .isInstanceOf(WrongCountException.class)
                .hasMessageContaining("WRONG COUNT: idle")
                .hasMessageContaining("paid 0 times");
    }
}
