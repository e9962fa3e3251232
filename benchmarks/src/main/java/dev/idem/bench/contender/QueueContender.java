package dev.idem.bench.contender;

import java.util.List;

/**
 * One way to store messages and to handle them later. Its tables exist when it does. It is opened, started and closed for
 * each measurement.
 */
public interface QueueContender extends AutoCloseable {
    String name();

    /** What is emptied before each measurement, besides the payments. */
    List<String> tables();

    /** A query that answers 0 when nothing is left to do, and is quick then. */
    String left();

    /** Of how many messages it gets one: a round must not wait for who is slow. */
    default int share() {
        return 1;
    }

    /** Makes ready to store; nobody works yet. */
    void open(int workers, Meter meter) throws Exception;

    /** Stores in one transaction, if it can. */
    void store(List<Delivery> messages) throws Exception;

    /** Lets the workers begin. */
    void start() throws Exception;

    @Override
    void close() throws Exception;
}
