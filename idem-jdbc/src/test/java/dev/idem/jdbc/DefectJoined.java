package dev.idem.jdbc;

import static dev.idem.jdbc.DefectBroker.CONSUMER;
import static dev.idem.jdbc.DefectBroker.acknowledges;
import static dev.idem.jdbc.DefectBroker.deliver;
import static dev.idem.jdbc.DefectBroker.message;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Policy;
import dev.idem.jdbc.internal.guard.Condemnable;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.MarkerStore;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/** Defects around transactions of others: the same scene with the real store and with one that forgets something. */
final class DefectJoined {
    private DefectJoined() {}

    /** A handler leaves an entity behind and fails; its owner catches that and commits, which writes the entity. */
    static DefectReport ownerCommitsAFailure(Db db, boolean planted) {
        JdbcStore real = db.store();
        MarkerStore store = !planted
                ? real
                : new Joinable(real) {
                    @Override
                    public void rollbackOnly(Connection outer) {}
                };
        AtomicInteger runs = new AtomicInteger();
        try (Inbox inbox = Inbox.create(store)) {
            deliver(() -> {
                List<String> session = new ArrayList<>();
                try (Connection owner = db.plain().getConnection()) {
                    return DefectBroker.inTransaction(owner, () -> {
                        boolean done = isDone(inbox, owner, () -> {
                            session.add("a");
                            if (runs.incrementAndGet() == 1) {
                                throw new IllegalStateException("fails after its work");
                            }
                        });
                        for (String entity : session) {
                            Db.pay(owner, entity); // an ORM writes at the commit what it was given
                        }
                        return done;
                    });
                }
            });
        }
        return DefectReport.of(db, "a");
    }

    private interface Body {
        void run() throws Exception;
    }

    private static boolean isDone(Inbox inbox, Connection owner, Body body) {
        try {
            return acknowledges(inbox.within(owner)
                    .run(CONSUMER, message("a"), tx -> body.run())
                    .outcome());
        } catch (Exception caught) {
            return false;
        }
    }

    /** A handler writes into the transaction that its caller has open, and the caller rolls back. */
    static DefectReport openTransactionUnnoticed(Db db, boolean planted) {
        JdbcStore real = db.store();
        MarkerStore store = !planted
                ? real
                : new Joinable(real) {
                    @Override
                    public Optional<String> openHere() {
                        return Optional.empty();
                    }
                };
        Consumer consumer = Consumer.named(CONSUMER)
                .policy(Policy.defaults().withUnusedTransaction(Policy.UnusedTransaction.ALLOW))
                .build();
        AtomicInteger deliveries = new AtomicInteger();
        try (Inbox inbox = Inbox.create(store)) {
            deliver(() -> {
                if (deliveries.incrementAndGet() > 1) {
                    return acknowledges(inbox.run(consumer, message("a"), tx -> Db.pay(tx.connection(), "a")));
                }
                try (Connection outer = real.dataSource().getConnection()) {
                    outer.setAutoCommit(false);
                    try {
                        // Past our own connection, which would refuse it: some libraries unwrap theirs.
                        Connection library = Condemnable.behind(outer);
                        return acknowledges(inbox.run(consumer, message("a"), tx -> Db.pay(library, "a")));
                    } finally {
                        outer.rollback();
                    }
                }
            });
        }
        return DefectReport.of(db, "a");
    }

    /** A message joins one transaction, its handler's library writes into another one of the thread, which rolls back. */
    static DefectReport joinedBesideAnother(Db db, boolean planted) {
        JdbcStore real = db.store();
        MarkerStore store = !planted
                ? real
                : new Joinable(real) {
                    @Override
                    public Optional<String> openBeside(Connection outer) {
                        return Optional.empty();
                    }
                };
        AtomicInteger deliveries = new AtomicInteger();
        try (Inbox inbox = Inbox.create(store)) {
            deliver(() -> {
                try (Connection open = real.dataSource().getConnection();
                        Connection joined = db.plain().getConnection()) {
                    if (deliveries.incrementAndGet() > 1) {
                        return DefectBroker.inTransaction(
                                joined, () -> isDone(inbox, joined, () -> Db.pay(joined, "a")));
                    }
                    open.setAutoCommit(false);
                    Connection library = Condemnable.behind(open);
                    try {
                        return DefectBroker.inTransaction(
                                joined, () -> isDone(inbox, joined, () -> Db.pay(library, "a")));
                    } finally {
                        open.rollback();
                    }
                }
            });
        }
        return DefectReport.of(db, "a");
    }

    private static class Joinable extends DefectStore implements MarkerStore.Joinable {
        private final JdbcStore real;

        Joinable(JdbcStore real) {
            super(real);
            this.real = real;
        }

        @Override
        public Claim claimWithin(Connection outer, ClaimRequest request) {
            return real.claimWithin(outer, request);
        }

        @Override
        public void rollbackOnly(Connection outer) {
            real.rollbackOnly(outer);
        }

        @Override
        public Optional<String> openHere() {
            return real.openHere();
        }

        @Override
        public Optional<String> openBeside(Connection outer) {
            return real.openBeside(outer);
        }
    }
}
