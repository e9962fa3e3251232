package dev.idem.jms;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.jdbc.JdbcStore;
import dev.idem.jdbc.SchemaMode;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import dev.idem.spi.MarkerStore;
import dev.idem.test.contract.BrokerContract;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.ExtendWith;

/** The contract of all adapters, on a real broker and a real database. */
@ExtendWith(SkipWithoutServer.class)
abstract class JmsContract extends BrokerContract {
    static Artemis artemis;

    private final List<HikariDataSource> pools = new ArrayList<>();

    @BeforeAll
    static void startBroker() throws Exception {
        artemis = new Artemis();
    }

    @AfterAll
    static void stopBroker() throws Exception {
        artemis.close();
    }

    @AfterEach
    void closePools() {
        pools.forEach(HikariDataSource::close);
    }

    @Override
    protected DataSource database() {
        PostgresServer server = PostgresServer.shared();
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(server.jdbcUrl(server.createDatabase()));
        config.setMaximumPoolSize(8);
        HikariDataSource pool = new HikariDataSource(config);
        pools.add(pool);
        return pool;
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
}
