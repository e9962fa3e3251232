package dev.idem.jdbc;

import dev.idem.jdbc.internal.sql.Dialect;
import dev.idem.jdbc.internal.sql.StatementSize;
import dev.idem.jdbc.internal.sql.Tables;
import dev.idem.jdbc.schema.WakeUp;
import dev.idem.spi.Claim;
import dev.idem.spi.ClaimRequest;
import dev.idem.spi.Guarantee;
import dev.idem.spi.Marker;
import dev.idem.spi.MarkerStore;
import dev.idem.spi.OuterTransactions;
import dev.idem.spi.StoredResult;
import dev.idem.spi.UnitOfWork;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;

/** The relational store with something between it and the inbox; a defect overrides what it gets wrong. */
class DefectStore implements MarkerStore {
    private final JdbcStore real;

    DefectStore(JdbcStore real) {
        this.real = real;
    }

    /** The store with one thing changed in its dialect. */
    static JdbcStore withDialect(Db db, DataSource source, UnaryOperator<Dialect> change) {
        db.store(); // creates the tables
        Tables tables = JdbcSchema.of(source).tables();
        return new JdbcStore(
                source,
                new Tables(change.apply(tables.dialect()), tables.schemaName(), tables.prefix(), false),
                StatementSize.of(source, db.kind()),
                Duration.ZERO,
                WakeUp.NOTIFY,
                OuterTransactions.NONE);
    }

    static Dialect statements(
            Dialect from, String claim, String claimJoined, String read, String confirm, String confirmAndCommit) {
        return from.toBuilder()
                .claim(claim)
                .claimJoined(claimJoined)
                .read(read)
                .readAndEnd(read)
                .confirm(confirm)
                .confirmAndCommit(confirmAndCommit)
                .build();
    }

    /** Gives a consumer the next number, as a sequence does. */
    static Dialect countingConsumers(Dialect from) {
        return from.toBuilder()
                .registerConsumer("INSERT INTO ${consumer} (number, name)"
                        + " SELECT COALESCE(MAX(number), 0) + 1, :name FROM ${consumer}")
                .build();
    }

    static Dialect withoutConfirm(Dialect from) {
        return statements(from, from.claim(), from.claimJoined(), from.read(), from.confirm(), "COMMIT");
    }

    /** With a deadlock that is an error like any other. */
    static Dialect withoutEndingCodes(Dialect from) {
        return from.toBuilder()
                .faults(from.faults().toBuilder().endingCodes().build())
                .build();
    }

    /** The statement with a part of it replaced; a statement without that part needs another defect. */
    static String spoil(String sql, String part, String replacement) {
        if (!sql.contains(part)) {
            throw new AssertionError("'" + part + "' is not in " + sql);
        }
        return sql.replace(part, replacement);
    }

    /** A marker that nobody has read. */
    static Claim inventedMarker() {
        return new Claim.Taken(new Marker("order-1", null, Instant.EPOCH, "0", null));
    }

    @Override
    public Guarantee guarantee() {
        return real.guarantee();
    }

    @Override
    public String describe() {
        return "defective " + real.describe();
    }

    @Override
    public void register(String consumer) {
        real.register(consumer);
    }

    @Override
    public Claim claim(ClaimRequest request) {
        Claim claim = real.claim(request);
        return claim instanceof Claim.Granted granted ? new Claim.Granted(unit(granted.unit())) : claim;
    }

    UnitOfWork unit(UnitOfWork granted) {
        return granted;
    }

    @Override
    public boolean isTransient(Throwable failure) {
        return real.isTransient(failure);
    }

    @Override
    public boolean isConnectionLost(Throwable failure) {
        return real.isConnectionLost(failure);
    }

    @Override
    public boolean isOutOfResources(Throwable failure) {
        return real.isOutOfResources(failure);
    }

    @Override
    public int largestResult() {
        return real.largestResult();
    }

    @Override
    public void close() {
        real.close();
    }

    /** A unit that does what the real one does, except for what a defect overrides. */
    static class DefectUnit implements UnitOfWork {
        private final UnitOfWork real;

        DefectUnit(UnitOfWork real) {
            this.real = real;
        }

        @Override
        public String claimId() {
            return real.claimId();
        }

        @Override
        public Connection connection() {
            return real.connection();
        }

        @Override
        public DataSource dataSource() {
            return real.dataSource();
        }

        @Override
        public void defer(String sql, Object... args) {
            real.defer(sql, args);
        }

        @Override
        public void flush() throws Exception {
            real.flush();
        }

        @Override
        public boolean used() {
            return real.used();
        }

        @Override
        public void revoke() {
            real.revoke();
        }

        @Override
        public void commit(StoredResult result) {
            real.commit(result);
        }

        @Override
        public void rollback() {
            real.rollback();
        }

        @Override
        public void abandon() {
            real.abandon();
        }

        @Override
        public void close() {
            real.close();
        }
    }
}
