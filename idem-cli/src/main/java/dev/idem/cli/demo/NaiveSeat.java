package dev.idem.cli.demo;

import dev.idem.Settlement;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The payment consumer as it is often written by hand: look whether the message was seen, charge in a transaction,
 * commit, remember, acknowledge. Sound as long as nothing happens at the same time and nobody dies in between.
 */
final class NaiveSeat implements Seat {
    private static final Logger log = LoggerFactory.getLogger(NaiveSeat.class);

    private final DataSource dataSource;
    private final Charges charges;
    private final NaiveCheck check;

    NaiveSeat(DataSource dataSource, Charges charges, NaiveCheck check) {
        this.dataSource = dataSource;
        this.charges = charges;
        this.check = check;
    }

    @Override
    public Answer.Settled take(Delivery delivery) {
        try (Connection connection = dataSource.getConnection()) {
            connection.setAutoCommit(false);
            if (check.seen(connection, delivery.payment())) {
                return new Answer.Settled(delivery.tag(), Settlement.ACK, true);
            }
            charges.charge(connection, delivery);
            connection.commit();
            check.remember(delivery.payment());
            return new Answer.Settled(delivery.tag(), Settlement.ACK, false);
        } catch (Declined never) {
            return new Answer.Settled(delivery.tag(), Settlement.DEAD_LETTER, false);
        } catch (SQLException | IllegalStateException failure) {
            log.warn("{} failed", delivery.payment().id(), failure);
            return new Answer.Settled(delivery.tag(), Settlement.RETRY, false);
        }
    }
}
