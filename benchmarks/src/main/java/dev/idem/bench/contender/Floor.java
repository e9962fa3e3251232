package dev.idem.bench.contender;

import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The bare business transaction, for every delivery: what a consumer costs that recognises nothing. */
final class Floor extends OneByOne {
    private final DataSource dataSource;

    Floor(DataSource dataSource) {
        super("floor");
        this.dataSource = dataSource;
    }

    @Override
    void handle(Delivery delivery) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            Payments.pay(connection, delivery.request());
            connection.commit();
        }
    }

    @Override
    public boolean recognisesDuplicates() {
        return false;
    }
}
