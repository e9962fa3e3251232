package dev.idem.jdbc;

import static dev.idem.jdbc.DefectBroker.CONSUMER;
import static dev.idem.jdbc.DefectBroker.message;

import dev.idem.CommitRefusedException;
import dev.idem.Consumer;
import dev.idem.Failure;
import dev.idem.Handler;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.spi.CommitUnknownException;
import dev.idem.spi.FaultPoint;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import dev.idem.test.fault.Fault;
import dev.idem.test.fault.FaultyDataSource;
import java.util.concurrent.atomic.AtomicBoolean;

/** Defects of blame: a failure is counted against a message that is innocent, or never against one that is guilty. */
final class DefectBlame {
    private static final int DELIVERIES = 4;

    private DefectBlame() {}

    /** The answer to a commit that was done is lost, which is taken for a refusal although no claim has proven that. */
    static DefectReport lostAnswerTakenForARefusal(Db db, boolean planted) {
        FaultyDataSource faulty = FaultyDataSource.around(db.plain());
        JdbcStore real = DefectStore.withDialect(db, faulty, dialect -> dialect);
        MarkerStore store = !planted
                ? real
                : new DefectStore(real) {
                    @Override
                    UnitOfWork unit(UnitOfWork granted) {
                        return new DefectUnit(granted) {
                            @Override
                            public void commit(StoredResult result) {
                                try {
                                    super.commit(result);
                                } catch (CommitUnknownException lost) {
                                    throw new CommitRefusedException("an error is an error", lost);
                                }
                            }
                        };
                    }
                };
        AtomicBoolean first = new AtomicBoolean(true);
        try (Inbox inbox = Inbox.builder(store)
                .steps((step, key) -> {
                    if (step == FaultPoint.BEFORE_COMMIT && first.getAndSet(false)) {
                        faulty.arm(2, Fault.CONNECTION_LOST_AFTER);
                    }
                })
                .build()) {
            return DefectReport.wrongIf(!(inbox.accept(paying(), message("a")) instanceof Outcome.Processed));
        }
    }

    /** The disk is full while a handler writes, and the message pays for it with an attempt. */
    static DefectReport fullDiskCountsAsAttempt(Db db, boolean planted) {
        MarkerStore store = !planted
                ? db.store()
                : new DefectStore(db.store()) {
                    @Override
                    public boolean isOutOfResources(Throwable failure) {
                        return false;
                    }
                };
        Consumer consumer = consumer((message, tx) -> tx.connection()
                .createStatement()
                .execute("DO $$ BEGIN RAISE EXCEPTION 'full' USING ERRCODE = '53100'; END $$"));
        try (Inbox inbox = Inbox.create(store)) {
            return DefectReport.wrongIf(kind(inbox.accept(consumer, message("a"))) != Failure.INFRASTRUCTURE);
        }
    }

    /** A handler always ends its own connection. Taken for an outage each time, it comes again for ever. */
    static DefectReport guiltyForEverInnocent(Db db, boolean planted) {
        MarkerStore store = !planted
                ? db.store()
                : new DefectStore(db.store()) {
                    @Override
                    public boolean isConnectionLost(Throwable failure) {
                        return false;
                    }
                };
        Consumer consumer = consumer((message, tx) ->
                tx.connection().createStatement().execute("SELECT pg_terminate_backend(pg_backend_pid())"));
        boolean blamed = false;
        try (Inbox inbox = Inbox.create(store)) {
            for (int i = 0; i < DELIVERIES; i++) {
                blamed |= kind(inbox.accept(consumer, message("a"))) == Failure.RETRYABLE;
            }
        }
        return DefectReport.wrongIf(!blamed);
    }

    private static Consumer paying() {
        return consumer((message, tx) -> {
            Db.pay(tx.connection(), "a");
            return null;
        });
    }

    private static Consumer consumer(Handler<Message, Object> handler) {
        return Consumer.named(CONSUMER)
                .policy(Policy.defaults())
                .otherwise(handler)
                .build();
    }

    private static Failure kind(Outcome<?> outcome) {
        return ((Outcome.Failed<?>) outcome).kind();
    }
}
