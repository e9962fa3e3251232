package dev.idem.internal.batch;

import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.Route;
import dev.idem.batch.BatchHandler;
import dev.idem.internal.consumer.Undecodable;
import dev.idem.internal.outbox.Outputs;
import dev.idem.internal.unit.InboxContext;
import dev.idem.internal.unit.RunningBatch;
import dev.idem.spi.Batch;
import dev.idem.spi.UnitOfWork;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** One call of a batch handler: the decoded events, and what the handler says of single ones. Used by one thread. */
final class TogetherCall<E> {
    private final BatchHandler<E> handler;
    private final List<BatchEntry<?>> entries = new ArrayList<>();
    private final List<E> events = new ArrayList<>();
    private final Map<BatchEntry<?>, Throwable> undecodable = new LinkedHashMap<>();
    private final Map<BatchEntry<?>, Throwable> failed = new LinkedHashMap<>();
    private List<Outputs> outputs = List.of();

    private TogetherCall(BatchHandler<E> handler) {
        this.handler = handler;
    }

    static <E> TogetherCall<E> of(
            InboxContext context, Batch batch, Route.Together<E> route, List<BatchEntry<?>> entries) {
        TogetherCall<E> call = new TogetherCall<>(route.handler());
        for (BatchEntry<?> entry : entries) {
            try {
                call.events.add(decoded(context, batch, route.decoder(), entry));
                call.entries.add(entry);
            } catch (Throwable unreadable) { // also an Error of a decoder is only its own message's business
                context.throwIfFatal(unreadable);
                call.undecodable.put(entry, unreadable);
            }
        }
        return call;
    }

    private static <E> E decoded(InboxContext context, Batch batch, PayloadDecoder<E> decoder, BatchEntry<?> entry)
            throws Exception {
        return decoder == PayloadDecoder.message() // at every door, and it never takes long
                ? Undecodable.decoded(decoder, entry.message())
                : context.inTime(
                        List.of(entry.key()),
                        entry.attempt().policy().handlerTimeout(),
                        InboxContext.ending(batch),
                        () -> Undecodable.decoded(decoder, entry.message()));
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

    void run(UnitOfWork unit) throws Exception {
        long start = System.nanoTime();
        String consumer = entries.get(0).attempt().consumer().name();
        List<Message> messages = entries.stream().map(BatchEntry::message).toList();
        outputs = entries.stream()
                .map(entry -> new Outputs(entry.attempt().consumer(), entry.message(), entry.key(), null))
                .toList();
        entries.forEach(entry -> entry.attempt().unpublished());
        try {
            handler.handleAll(
                    List.copyOf(events),
                    new RunningBatch(
                            messages,
                            consumer,
                            unit.connection(),
                            unit.dataSource(),
                            (index, cause) -> failed.put(entries.get(index), cause),
                            (index, destination, message) -> outputs.get(index).publish(destination, message),
                            () -> outputs.forEach(Outputs::nothing),
                            (index, purpose) -> outputs.get(index).id(purpose)));
            publish();
        } finally {
            outputs.forEach(Outputs::taken);
            long share = (System.nanoTime() - start) / entries.size();
            entries.forEach(entry -> entry.attempt().ranTogether(share));
        }
        entries.stream().filter(entry -> !failed.containsKey(entry)).forEach(BatchEntry::ranTogether);
    }

    /** What was published for a message that failed goes with it. */
    private void publish() {
        for (int i = 0; i < entries.size(); i++) {
            BatchEntry<?> entry = entries.get(i);
            if (!failed.containsKey(entry)) {
                entry.attempt().published(outputs.get(i));
            }
        }
    }
}
