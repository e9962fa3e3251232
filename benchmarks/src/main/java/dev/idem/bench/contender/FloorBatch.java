package dev.idem.bench.contender;

import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.sql.DataSource;

/** The bare business transaction of a whole batch: one JDBC batch, one commit, nothing recognised. */
final class FloorBatch implements Contender {
    private final DataSource dataSource;

    FloorBatch(DataSource dataSource) {
        this.dataSource = dataSource;
    }

    @Override
    public String name() {
        return "floor-batch";
    }

    @Override
    public List<String> tables() {
        return List.of();
    }

    @Override
    public boolean recognisesDuplicates() {
        return false;
    }

    @Override
    public void handle(List<Delivery> batch) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Payments.payAll(connection, batch.stream().map(Delivery::request).toList());
            connection.commit();
        }
    }
}
