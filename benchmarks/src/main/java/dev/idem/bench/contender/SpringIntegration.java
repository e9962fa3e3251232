package dev.idem.bench.contender;

import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.integration.jdbc.metadata.JdbcMetadataStore;
import org.springframework.transaction.TransactionStatus;

/** Spring Integration's metadata store, as its idempotent receiver uses it. */
final class SpringIntegration extends Joined {
    private final JdbcMetadataStore store;

    SpringIntegration(DataSource dataSource) throws SQLException {
        super("spring-integration", dataSource, "int_metadata_store");
        Sql.execute(dataSource, """
                CREATE TABLE IF NOT EXISTS int_metadata_store (
                  metadata_key   varchar(255) NOT NULL,
                  metadata_value varchar(4000),
                  region         varchar(100) NOT NULL,
                  PRIMARY KEY (metadata_key, region)
                )
                """);
        store = new JdbcMetadataStore(dataSource);
        store.afterPropertiesSet();
    }

    @Override
    boolean claim(String id, TransactionStatus status) {
        return store.putIfAbsent(id, "done") == null;
    }
}
