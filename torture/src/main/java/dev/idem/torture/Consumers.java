package dev.idem.torture;

import dev.idem.Consumer;
import dev.idem.PayloadDecoder;
import dev.idem.Policy;
import java.util.EnumMap;
import java.util.Map;

/** The queued consumers of a worker. */
final class Consumers {
    private Consumers() {}

    /** @param isNew whether messages of one type, which were handled in steps, have a plain handler now */
    static Map<Mode, Consumer> of(Handling handling, Defect defect, boolean isNew) {
        Map<Mode, Consumer> consumers = new EnumMap<>(Mode.class);
        for (Mode mode : Mode.QUEUED) {
            Consumer.Builder consumer = Consumer.named(mode.consumer())
                    .key(defect.key())
                    .policy(Policy.defaults().withHandlerTimeout(Handling.TIMEOUT))
                    .queued(mode.policy());
            if (mode.isInSteps() && isNew) {
                consumer.on(Item.PLAIN_NOW, PayloadDecoder.message(), handling::handle);
            }
            consumers.put(
                    mode,
                    (mode.isInSteps()
                                    ? consumer.otherwiseSteps(handling::handleInSteps)
                                    : consumer.otherwise(handling::handle))
                            .build());
        }
        return consumers;
    }
}
