package dev.idem.internal.unit;

import dev.idem.Route;
import dev.idem.Transaction;
import dev.idem.internal.consumer.Undecodable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A batch handler that is given one message. */
final class TogetherAlone {
    private TogetherAlone() {}

    /** Calls a batch handler for the one message of a transaction. */
    static <E> @Nullable Void run(Route.Together<E> route, Transaction tx) throws Exception {
        List<Throwable> failures = new ArrayList<>();
        E event = Undecodable.decoded(route.decoder(), tx.message());
        route.handler()
                .handleAll(
                        List.of(event),
                        new RunningBatch(
                                List.of(tx.message()),
                                tx.consumer(),
                                tx.connection(),
                                tx.dataSource(),
                                (index, cause) -> failures.add(cause),
                                (index, destination, message) -> tx.publish(destination, message),
                                tx::nothingToDo,
                                (index, purpose) -> tx.outputId(purpose)));
        if (!failures.isEmpty()) {
            throw Failures.<Exception>asDeclared(failures.get(0));
        }
        return null;
    }
}
