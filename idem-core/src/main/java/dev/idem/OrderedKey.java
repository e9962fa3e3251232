package dev.idem;

import dev.idem.internal.text.IdTime;
import java.util.Optional;
import java.util.function.Function;

/** Key selectors that are more than a function: they say whether their keys begin with a time. */
record OrderedKey(KeySelector selector, boolean isTimeOrdered) implements KeySelector {
    @Override
    public Selection select(Message message) {
        return selector.select(message);
    }

    /** Turns away what bears no time, because it would end up anywhere in a store that is ordered by it. */
    static KeySelector byId(KeySelector base) {
        return new OrderedKey(message -> ordered(base.select(message)), true);
    }

    private static Selection ordered(Selection selection) {
        return selection instanceof Selection.Parts parts
                        && !parts.ids().isEmpty()
                        && IdTime.millis(
                                        parts.eventTime(),
                                        parts.ids().get(parts.ids().size() - 1))
                                .isEmpty()
                ? new Selection.Unusable(
                        Rejection.KEY_NOT_TIME_ORDERED,
                        "the last part of the key is neither a UUIDv7, in lower case and with dashes, nor a ULID")
                : selection;
    }

    static KeySelector byEventTime(KeySelector base) {
        return new OrderedKey(
                message -> message.eventTime().isPresent()
                        ? base.select(message).atTime(message.eventTime().get())
                        : new Selection.Unusable(Rejection.KEY_MISSING, "the message has no event time"),
                true);
    }

    static KeySelector ofTenant(KeySelector base, Function<Message, Optional<String>> tenant) {
        return new OrderedKey(
                message -> {
                    Optional<String> owner = tenant.apply(message);
                    return owner.isPresent()
                            ? base.select(message).ofTenant(owner.get())
                            : new Selection.Unusable(Rejection.KEY_MISSING, "the message has no tenant");
                },
                base.isTimeOrdered());
    }
}
