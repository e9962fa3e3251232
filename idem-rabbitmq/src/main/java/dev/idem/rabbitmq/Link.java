package dev.idem.rabbitmq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Address;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import com.rabbitmq.client.TrafficListener;
import dev.idem.IdemException;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/** The way to a broker: opens connections that do not recover by themselves and do not wait for ever. Thread-safe. */
final class Link {
    /** The client's own limit is ten minutes, in which a listener would notice nothing. */
    private static final int ANSWER_MILLIS = 20_000;

    private static final int CONNECT_MILLIS = 10_000;
    private static final int CLOSE_MILLIS = 5_000;

    private final ConnectionFactory factory;
    private final List<Address> addresses;

    Link(ConnectionFactory given, List<Address> addresses) {
        factory = given.clone();
        factory.setAutomaticRecoveryEnabled(false);
        factory.setTopologyRecoveryEnabled(false);
        if (factory.getChannelRpcTimeout() == ConnectionFactory.DEFAULT_CHANNEL_RPC_TIMEOUT) {
            factory.setChannelRpcTimeout(ANSWER_MILLIS);
        }
        if (factory.getConnectionTimeout() == ConnectionFactory.DEFAULT_CONNECTION_TIMEOUT) {
            factory.setConnectionTimeout(CONNECT_MILLIS);
        }
        this.addresses = addresses;
    }

    /** The same, with other threads. */
    Link withThreads(ThreadFactory threads) {
        ConnectionFactory copy = factory.clone();
        copy.setThreadFactory(threads);
        return new Link(copy, addresses);
    }

    Connection connect(String name) throws IOException, TimeoutException {
        return connect(factory, name);
    }

    /** A connection that stops reading while too much is here. */
    Connection connect(String name, Backpressure pressure) throws IOException, TimeoutException {
        ConnectionFactory copy = factory.clone();
        copy.setTrafficListener(pressure);
        return connect(copy, name);
    }

    /** What the user wants to hear of the traffic; the factory tells it only so. */
    TrafficListener traffic() {
        return factory.params(null).getTrafficListener();
    }

    private Connection connect(ConnectionFactory from, String name) throws IOException, TimeoutException {
        return addresses.isEmpty() ? from.newConnection(name) : from.newConnection(addresses, name);
    }

    /** Closes without complaint, and without waiting for a broker that does not answer. */
    static void close(@Nullable Connection connection) {
        if (connection != null) {
            connection.abort(CLOSE_MILLIS);
        }
    }

    /** The broker's code for why it refused, if that is what happened: 404 for "not found", say. */
    static Optional<Integer> refusal(Throwable failure) {
        return closed(failure).map(Closed::code);
    }

    /** What the broker or its client said, in their own words. */
    static String words(Throwable failure) {
        Optional<Closed> closed = closed(failure);
        if (failure instanceof IdemException) {
            return String.valueOf(failure.getMessage());
        }
        if (closed.isPresent()) {
            return closed.get().text();
        }
        Throwable root = failure;
        while (root.getMessage() == null && root.getCause() != null) {
            root = root.getCause();
        }
        return root.getMessage() == null ? root.getClass().getName() : root.getMessage();
    }

    private record Closed(int code, String text) {}

    private static Optional<Closed> closed(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ShutdownSignalException signal) {
                if (signal.getReason() instanceof AMQP.Channel.Close closed) {
                    return Optional.of(new Closed(closed.getReplyCode(), closed.getReplyText()));
                }
                if (signal.getReason() instanceof AMQP.Connection.Close closed) {
                    return Optional.of(new Closed(closed.getReplyCode(), closed.getReplyText()));
                }
            }
        }
        return Optional.empty();
    }
}
