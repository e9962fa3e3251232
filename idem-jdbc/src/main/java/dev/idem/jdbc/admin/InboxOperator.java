package dev.idem.jdbc.admin;

import dev.idem.ResultCodec;
import dev.idem.jdbc.internal.queue.JdbcSequences;
import dev.idem.jdbc.internal.queue.LargeMessages;
import dev.idem.jdbc.internal.queue.OrderingKeys;
import dev.idem.jdbc.internal.sql.ShortTransactions;
import dev.idem.jdbc.internal.sql.StoredText;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.sequence.Gap;
import dev.idem.spi.SequenceStore;
import dev.idem.spi.StoredResult;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Consumer;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A person who acts on stored messages, made by {@link JdbcInbox#as}. Every action moves a message by its fence and is
 * audited in the same transaction; done twice, it changes nothing the second time and says so. A message that a worker has
 * now is left to it, so no effect happens twice. Immutable and thread-safe.
 */
public final class InboxOperator {
    /** How many messages of a filter share a transaction. */
    private static final int TOGETHER = 500;

    static final int LONGEST_ACTOR = 200;
    static final int LONGEST_REASON = 2_000;

    private final DataSource dataSource;
    private final Tables tables;
    private final String actor;
    private final String reason;
    private final boolean dryRun;
    private final boolean force;
    private final InboxRows rows;
    private final InboxChanges changes;
    private final OrderingKeys lines;

    InboxOperator(DataSource dataSource, Tables tables, String actor, String reason) {
        this(
                dataSource,
                tables,
                text("actor", actor, LONGEST_ACTOR),
                text("reason", reason, LONGEST_REASON),
                false,
                false);
    }

    private InboxOperator(
            DataSource dataSource, Tables tables, String actor, String reason, boolean dryRun, boolean force) {
        this.dataSource = dataSource;
        this.tables = tables;
        this.actor = actor;
        this.reason = reason;
        this.dryRun = dryRun;
        this.force = force;
        rows = new InboxRows(tables);
        changes = new InboxChanges(tables);
        lines = new OrderingKeys(tables, new LargeMessages(tables));
    }

    static String text(String name, String text, int longest) {
        if (text.isBlank() || text.length() > longest) {
            throw new IllegalArgumentException(name + " has " + text.length() + " characters, but must have 1 to "
                    + longest + ", and say something");
        }
        return StoredText.storable(text);
    }

    /** Says what would be done, and changes nothing. What a worker has locked at that moment is not noticed. */
    public InboxOperator dryRun() {
        return new InboxOperator(dataSource, tables, actor, reason, true, force);
    }

    /** Retries also what was skipped in an ordered consumer, although others of its key have gone ahead. */
    public InboxOperator force() {
        return new InboxOperator(dataSource, tables, actor, reason, dryRun, true);
    }

    /** Acts on one message. */
    public InboxAnswer act(InboxAction action, long id) {
        List<InboxAnswer> answers = together(action, List.of(id));
        return answers.isEmpty() ? InboxAnswer.missing(id) : answers.get(0);
    }

    /**
     * Acts on all messages of a filter, in the order they were stored, at most 500 in a transaction; a filter that names no
     * states means {@link InboxAction#usualStates}. What was done stays done if a later part fails.
     *
     * @param progress is told after every transaction how far it is
     */
    public InboxAnswer.Sum actOnAll(InboxAction action, InboxFilter filter, Consumer<InboxAnswer.Sum> progress) {
        InboxFilter meant = filter.states().isEmpty() ? filter.withStates(action.usualStates()) : filter;
        InboxAnswer.Sum sum = InboxAnswer.Sum.NONE;
        long after = Long.MIN_VALUE;
        while (true) {
            long from = after;
            List<Long> ids = tried(connection -> rows.page(connection, meant, false, TOGETHER, from)).stream()
                    .map(row -> row.message().id())
                    .toList();
            if (ids.isEmpty()) {
                return sum;
            }
            sum = sum.plus(together(action, ids));
            after = ids.get(ids.size() - 1);
            progress.accept(sum);
        }
    }

    public InboxAnswer retry(long id) {
        return act(InboxAction.RETRY, id);
    }

    public InboxAnswer park(long id) {
        return act(InboxAction.PARK, id);
    }

    public InboxAnswer skip(long id) {
        return act(InboxAction.SKIP, id);
    }

    /**
     * Gives a message that is parked, or was given up, another payload or other headers, as a new revision: its id, its key
     * and its marker stay, and what it was before is kept. Retry it then. A redelivery of what was first received is a
     * duplicate still.
     */
    public InboxAnswer edit(long id, InboxEdit edit) {
        InboxEditing editing = new InboxEditing(tables);
        return tried(connection -> editing.edit(connection, id, edit, actor, reason, dryRun));
    }

    /**
     * Erases what a message said, for good: payload, headers, readable id, ordering key, results, error texts, revisions and
     * kept copies, everywhere in these tables. That it was decided stays, so a redelivery is a duplicate still; one that was
     * waiting or parked is given up, and cannot be retried. One that a worker has now is left alone. Of a message that is
     * done, this is the number it had in the queue.
     */
    public InboxAnswer erase(long id) {
        return erase((erasure, connection, wish) -> erasure.byNumber(connection, id, wish));
    }

    /**
     * The same by the id that lists show, which has the source beside it if the message has one, also of a message that was never in the queue. Reads all markers of the consumer.
     * The answer has the number 0 if the message has none.
     */
    public InboxAnswer erase(String consumer, String messageId) {
        return erase((erasure, connection, wish) -> erasure.byName(connection, consumer, messageId, wish));
    }

    @FunctionalInterface
    private interface Erasing {
        InboxErasure.Made in(InboxErasure erasure, Connection connection, InboxErasure.Wish wish) throws SQLException;
    }

    private InboxAnswer erase(Erasing erasing) {
        InboxErasure.Wish wish = new InboxErasure.Wish(actor, reason, dryRun);
        InboxErasure erasure = new InboxErasure(tables);
        try {
            InboxErasure.Made made = tried(connection -> erasing.in(erasure, connection, wish));
            made.orders().forEach(this::release);
            return made.answer();
        } catch (InboxErasure.Refused refused) {
            return refused.answer();
        }
    }

    public InboxAnswer.Sum retryAll(InboxFilter filter, Consumer<InboxAnswer.Sum> progress) {
        return actOnAll(InboxAction.RETRY, filter, progress);
    }

    public InboxAnswer.Sum parkAll(InboxFilter filter, Consumer<InboxAnswer.Sum> progress) {
        return actOnAll(InboxAction.PARK, filter, progress);
    }

    public InboxAnswer.Sum skipAll(InboxFilter filter, Consumer<InboxAnswer.Sum> progress) {
        return actOnAll(InboxAction.SKIP, filter, progress);
    }

    /**
     * Goes on behind the versions that are missing in a stream: they will not be applied any more. Answers false, and changes
     * nothing, when no version is missing before the next message, or somebody is working on the stream. Not for dry runs,
     * which {@link JdbcInbox#gaps} serves.
     */
    public boolean passGap(String consumer, String stream) {
        if (dryRun) {
            throw new IllegalStateException("A gap cannot be passed in a dry run: look at it with JdbcInbox.gaps");
        }
        JdbcSequences sequences = new JdbcSequences(dataSource, tables);
        return sequences
                .gap(consumer, stream)
                .filter(Gap::isOpen)
                .flatMap(gap -> sequences.pass(gap, gap.next(), new SequenceStore.Deed("GAP_SKIPPED", actor, reason)))
                .isPresent();
    }

    /**
     * Says that an effect of a parked message, of which nobody knew, was made, and what the provider answered. From then on
     * it counts as done; retry the message to let it go on. May be said again, if the answer was a wrong one. False when the
     * message is not parked, or has no such effect.
     *
     * @throws dev.idem.IdemException if the handler's codec is another one, or a worker may be making the effect now, for
     *     another delivery of the message
     */
    public <T> boolean effectWasMade(long id, String effect, ResultCodec<T> codec, T answer) {
        try {
            return say(id, effect, true, new StoredResult(codec.name(), codec.encode(answer)));
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception unwritable) {
            throw new IllegalArgumentException("The answer cannot be encoded by codec " + codec.name(), unwritable);
        }
    }

    /**
     * The same for an effect without a result.
     *
     * @throws dev.idem.IdemException if it has one, or a worker may be making the effect now
     */
    public boolean effectWasMade(long id, String effect) {
        return say(id, effect, true, null);
    }

    /**
     * Says that it was not made, and will not be by a call that is still on its way: it is called when retried.
     *
     * @throws dev.idem.IdemException if a worker may be making the effect now, for another delivery of the message
     */
    public boolean effectWasNotMade(long id, String effect) {
        return say(id, effect, false, null);
    }

    private boolean say(long id, String effect, boolean made, @Nullable StoredResult result) {
        EffectVerdict verdict = new EffectVerdict(tables, rows);
        EffectVerdict.Saying saying = new EffectVerdict.Saying(effect, made, result, actor, reason);
        return tried(connection -> dryRun ? verdict.look(connection, id, saying) : verdict.say(connection, id, saying));
    }

    private List<InboxAnswer> together(InboxAction action, List<Long> ids) {
        InboxChanges.Wish wish = new InboxChanges.Wish(action, actor, reason, force);
        if (dryRun) {
            return tried(connection -> changes.look(connection, wish, ids));
        }
        InboxChanges.Made made = tried(connection -> changes.make(connection, wish, ids));
        // Afterwards, because one that was before it may have been completed meanwhile; if this fails, a sweep sees to
        // it.
        made.orders().forEach(this::release);
        return made.answers();
    }

    private void release(int consumer, Set<UUID> orders) {
        tried(connection -> lines.release(connection, consumer, orders));
    }

    /** In a transaction of its own, again if it met another one. */
    private <T> T tried(ShortTransactions.Doing<T> doing) {
        return new ShortTransactions(dataSource, tables).tried("act on messages", doing);
    }
}
