package dev.idem.bench.contender;

import io.eventuate.common.jdbc.EventuateSchema;
import io.eventuate.common.spring.jdbc.EventuateSpringJdbcStatementExecutor;
import io.eventuate.common.spring.jdbc.EventuateSpringTransactionTemplate;
import io.eventuate.tram.consumer.jdbc.SqlTableBasedDuplicateMessageDetector;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.transaction.TransactionStatus;

/** Eventuate Tram's detector: inserts, and takes the violated key for a duplicate. */
final class Tram extends Joined {
    private static final String MILLIS = "(ROUND(EXTRACT(EPOCH FROM CURRENT_TIMESTAMP) * 1000))";

    private final SqlTableBasedDuplicateMessageDetector detector;

    Tram(DataSource dataSource) throws SQLException {
        super("tram", dataSource, "received_messages");
        Sql.execute(dataSource, """
                CREATE TABLE IF NOT EXISTS received_messages (
                  consumer_id   varchar(1000),
                  message_id    varchar(1000),
                  creation_time bigint,
                  published     smallint DEFAULT 0,
                  PRIMARY KEY (consumer_id, message_id)
                )
                """);
        detector = new SqlTableBasedDuplicateMessageDetector(
                new EventuateSchema(EventuateSchema.EMPTY_SCHEMA),
                MILLIS,
                new EventuateSpringJdbcStatementExecutor(new JdbcTemplate(dataSource)),
                new EventuateSpringTransactionTemplate(transactions()));
    }

    @Override
    boolean claim(String id, TransactionStatus status) {
        if (!detector.isDuplicate("payments", id)) {
            return true;
        }
        // The violation has spoilt the transaction, and a commit would throw.
        status.setRollbackOnly();
        return false;
    }
}
