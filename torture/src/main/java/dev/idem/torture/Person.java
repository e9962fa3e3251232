package dev.idem.torture;

import dev.idem.IdemException;
import dev.idem.jdbc.admin.InboxFilter;
import dev.idem.jdbc.admin.InboxMessage;
import dev.idem.jdbc.admin.InboxOperator;
import dev.idem.jdbc.admin.JdbcInbox;
import dev.idem.queue.QueueState;
import dev.idem.spi.StepRecord;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * Looks after what is parked: asks the provider about calls nobody knows of, and says what it has heard; and retries what hung in
 * several processes, for it hangs once in each. Used by one thread.
 */
final class Person {
    private static final String EFFECT_UNKNOWN = "EFFECT_UNKNOWN";
    private static final String STEPS_CHANGED = "STEPS_CHANGED";
    private static final String STUCK = "STUCK";
    private static final int MOST = 10_000;

    private final JdbcInbox inbox;
    private final InboxOperator operator;
    private final String url;
    private int made;
    private int notMade;

    Person(JdbcInbox inbox, String url) {
        this.inbox = inbox;
        operator = inbox.as("torture", "asked the provider");
        this.url = url;
    }

    int made() {
        return made;
    }

    int notMade() {
        return notMade;
    }

    boolean hasWork() {
        return !parked(EFFECT_UNKNOWN, 1).isEmpty() || !stuck().isEmpty();
    }

    /** The numbers of messages that are parked since their handler has changed, and may be. */
    Set<Integer> changed() {
        Set<Integer> numbers = new HashSet<>();
        for (InboxMessage message : parked(STEPS_CHANGED, MOST)) {
            item(message, Item.Nature.CHANGED).ifPresent(item -> numbers.add(item.number()));
        }
        return numbers;
    }

    private List<InboxMessage> stuck() {
        return listed(InboxFilter.all().withReason(STUCK), MOST).stream()
                .filter(message -> item(message, Item.Nature.STUBBORN).isPresent())
                .toList();
    }

    private Optional<Item> item(InboxMessage message, Item.Nature nature) {
        return inbox.payload(message.id()).map(Item::parse).filter(item -> item.nature() == nature);
    }

    private List<InboxMessage> parked(String reason, int most) {
        return listed(InboxFilter.all().withConsumer(Mode.STEPS.consumer()).withReason(reason), most);
    }

    private List<InboxMessage> listed(InboxFilter wanted, int most) {
        InboxFilter filter = wanted.withStates(QueueState.PARKED);
        return inbox.list(filter, JdbcInbox.Sorted.OLDEST_FIRST, most, Optional.empty())
                .messages();
    }

    /** @param quiet whether no call can be on its way; before, nobody can say that one was not made */
    void settle(boolean quiet) throws SQLException {
        stuck().forEach(message -> operator.retry(message.id()));
        for (InboxMessage message : parked(EFFECT_UNKNOWN, MOST)) {
            Optional<InboxMessage.Step> unknown = inbox.show(message.id()).stream()
                    .flatMap(detail -> detail.steps().stream())
                    .filter(step -> step.kind() == StepRecord.Kind.EFFECT && step.state() != StepRecord.State.DONE)
                    .findFirst();
            if (unknown.isPresent()) {
                settle(message.id(), unknown.get(), quiet);
            }
        }
    }

    private void settle(long id, InboxMessage.Step effect, boolean quiet) throws SQLException {
        boolean called = Business.wasCalled(url, effect.effectKey().orElseThrow());
        if (!called && !quiet) {
            return;
        }
        try {
            if (called ? operator.effectWasMade(id, effect.name()) : operator.effectWasNotMade(id, effect.name())) {
                operator.retry(id);
                made += called ? 1 : 0;
                notMade += called ? 0 : 1;
            }
        } catch (IdemException later) {
            // it is looked at again
        }
    }
}
