package dev.idem;

import dev.idem.spi.Unit;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** One call of a batch handler: the decoded events, and what the handler says of single ones. Used by one thread. */
final class TogetherCall<E> {
    private final BatchHandler<E> handler;
    private final List<BatchEntry<?>> entries = new ArrayList<>();
    private final List<E> events = new ArrayList<>();
    private final Map<BatchEntry<?>, Throwable> undecodable = new LinkedHashMap<>();
    private final Map<BatchEntry<?>, Throwable> failed = new LinkedHashMap<>();

    private TogetherCall(BatchHandler<E> handler) {
        this.handler = handler;
    }

    static <E> TogetherCall<E> of(Consumer.Route.Together<E> route, List<BatchEntry<?>> entries) {
        TogetherCall<E> call = new TogetherCall<>(route.handler());
        for (BatchEntry<?> entry : entries) {
            try {
                call.events.add(Undecodable.decoded(route.decoder(), entry.message()));
                call.entries.add(entry);
            } catch (Throwable unreadable) { // also an Error of a decoder is only its own message's business
                Failures.throwIfFatal(unreadable);
                call.undecodable.put(entry, unreadable);
            }
        }
        return call;
    }

    /** Calls a batch handler for the one message of a transaction. */
    static <E> @Nullable Void alone(Consumer.Route.Together<E> route, Transaction tx) throws Exception {
        List<Throwable> failures = new ArrayList<>();
        E event = Undecodable.decoded(route.decoder(), tx.message());
        route.handler()
                .handleAll(
                        List.of(event),
                        new Running(
                                List.of(tx.message()),
                                tx.consumer(),
                                tx.connection(),
                                tx.dataSource(),
                                (index, cause) -> failures.add(cause)));
        if (!failures.isEmpty()) {
            throw Failures.<Exception>asDeclared(failures.get(0));
        }
        return null;
    }

    /** Those that can be handled. */
    List<BatchEntry<?>> entries() {
        return entries;
    }

    Map<BatchEntry<?>, Throwable> undecodable() {
        return undecodable;
    }

    /** Those the handler has failed. */
    Map<BatchEntry<?>, Throwable> failed() {
        return failed;
    }

    void run(Unit unit) throws Exception {
        long start = System.nanoTime();
        String consumer = entries.get(0).attempt().consumer().name();
        List<Message> messages = entries.stream().map(BatchEntry::message).toList();
        try {
            handler.handleAll(
                    List.copyOf(events),
                    new Running(
                            messages,
                            consumer,
                            unit.connection(),
                            unit.dataSource(),
                            (index, cause) -> failed.put(entries.get(index), cause)));
        } finally {
            long share = (System.nanoTime() - start) / entries.size();
            entries.forEach(entry -> entry.attempt().ranTogether(share));
        }
        entries.stream().filter(entry -> !failed.containsKey(entry)).forEach(BatchEntry::ranTogether);
    }

    private record Running(
            List<Message> messages, String consumer, Connection connection, DataSource dataSource, Failed failed)
            implements BatchTransaction {
        @Override
        public void fail(int index, Exception cause) {
            failed.add(Objects.checkIndex(index, messages.size()), Objects.requireNonNull(cause, "cause"));
        }
    }

    @FunctionalInterface
    private interface Failed {
        void add(int index, Exception cause);
    }
}
