package dev.idem.jdbc.library;

import dev.idem.spi.OuterTransactions;
import java.sql.Connection;
import java.util.Optional;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.springframework.jdbc.datasource.ConnectionHolder;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** What Spring knows of its transactions on one data source, as a module for Spring would tell it. */
record SpringTransactions(DataSource dataSource) implements OuterTransactions {
    @Override
    public Optional<String> openHere() {
        return holder().filter(holder -> TransactionSynchronizationManager.isActualTransactionActive())
                .map(holder -> "Spring's transaction " + TransactionSynchronizationManager.getCurrentTransactionName());
    }

    @Override
    public boolean isOpenOn(Connection connection) {
        return holder().filter(holder -> holder.getConnection() == connection).isPresent();
    }

    @Override
    public boolean rollbackOnly(Connection connection) {
        Optional<ConnectionHolder> mine = holder().filter(holder -> holder.getConnection() == connection);
        mine.ifPresent(ConnectionHolder::setRollbackOnly);
        return mine.isPresent();
    }

    private Optional<ConnectionHolder> holder() {
        return Stream.ofNullable(TransactionSynchronizationManager.getResource(dataSource))
                .filter(ConnectionHolder.class::isInstance)
                .map(ConnectionHolder.class::cast)
                .findFirst();
    }
}
