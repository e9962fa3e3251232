package dev.idem.bench.contender;

import javax.sql.DataSource;
import org.apache.camel.processor.idempotent.jdbc.JdbcMessageIdRepository;
import org.springframework.transaction.TransactionStatus;

/** Apache Camel's idempotent repository: looks first, then inserts. */
final class Camel extends Joined {
    private final JdbcMessageIdRepository repository;

    Camel(DataSource dataSource) {
        super("camel", dataSource, "camel_messageprocessed");
        repository = new JdbcMessageIdRepository(dataSource, transactions(), "payments");
        repository.start();
    }

    @Override
    boolean claim(String id, TransactionStatus status) {
        return repository.add(id);
    }

    @Override
    public void close() {
        repository.stop();
    }
}
