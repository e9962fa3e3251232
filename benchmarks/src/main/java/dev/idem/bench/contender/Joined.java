package dev.idem.bench.contender;

import java.sql.SQLException;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.DataSourceUtils;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/** A peer whose marker joins the transaction of the effect, through Spring's transactions. */
abstract class Joined extends OneByOne {
    private final DataSource dataSource;
    private final TransactionTemplate transactions;

    Joined(String name, DataSource dataSource, String table) {
        super(name, table);
        this.dataSource = dataSource;
        this.transactions = new TransactionTemplate(new DataSourceTransactionManager(dataSource));
    }

    /** Marks the message; false if it is a duplicate. */
    abstract boolean claim(String id, TransactionStatus status);

    final TransactionTemplate transactions() {
        return transactions;
    }

    @Override
    final void handle(Delivery delivery) throws SQLException {
        transactions.executeWithoutResult(status -> {
            if (claim(delivery.id(), status)) {
                pay(delivery);
            }
        });
    }

    private void pay(Delivery delivery) {
        try {
            Payments.pay(DataSourceUtils.getConnection(dataSource), delivery.request());
        } catch (SQLException failure) {
            throw new IllegalStateException("the payment failed", failure);
        }
    }
}
