package dev.idem.jdbc.internal.sql;

import dev.idem.StoreException;
import dev.idem.jdbc.schema.Database;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.ToLongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Everything that differs between databases. Statements have named parameters and {@code ${table}} names.
 *
 * @param claim inserts the marker as the first statement of a transaction; answers one row of {@link ClaimRow}: granted,
 *     or the marker that is already there; or none when only {@code read} can tell
 * @param claimJoined the same inside somebody else's transaction
 * @param read answers the marker's row
 * @param readAndEnd the same when nothing comes after it in the transaction, which it may end if that saves a round trip
 * @param confirm answers a row if the marker of this transaction is still there; else none, or fails
 * @param confirmAndCommit the same and COMMIT in one round trip, where the first failing stops the second
 * @param registerConsumer gives a name a number, if neither of them is taken; may fail when another does so at once
 * @param storeResult keeps a result, also where one was left over from a marker that a person deleted
 * @param takenCodes error codes of the claim that mean: the row may be there, read it
 * @param faults which errors mean what
 * @param committing first words of statements that would end the transaction behind our back
 * @param storesClaimId whether the marker has a column for the claim's random id; else the transaction's id serves
 * @param key how the 16 bytes are bound
 * @param keyOf how they are read
 * @param waitUnits how long to wait for a twin, in the unit of the claim's {@code :wait}
 * @param catalogIsSchema whether the driver calls a schema a catalog
 * @param embedded whether the tables are created without being asked
 * @param checks what is looked at when a store starts
 * @param batch the statements for many keys at once
 * @param watermark the statements for positions
 */
public record Dialect(
        Database database,
        String claim,
        String claimJoined,
        String read,
        String readAndEnd,
        String confirm,
        String confirmAndCommit,
        String registerConsumer,
        String storeResult,
        Set<Integer> takenCodes,
        FaultCodes faults,
        Set<String> committing,
        boolean storesClaimId,
        Function<UUID, NamedSql.Parameter> key,
        KeyReader keyOf,
        ToLongFunction<Duration> waitUnits,
        boolean catalogIsSchema,
        boolean embedded,
        List<Check> checks,
        BatchSql batch,
        WatermarkSql watermark) {

    /** Reads the 16 bytes of a key. */
    @FunctionalInterface
    public interface KeyReader {
        UUID read(ResultSet row, int column) throws SQLException;
    }

    public static Dialect of(Database database) {
        return switch (database) {
            case POSTGRESQL -> PostgreSql.DIALECT;
            case MARIADB -> MariaDb.DIALECT;
            case H2 -> H2Dialect.DIALECT;
        };
    }

    /** The dialect of the product that the driver names. */
    public static Dialect detect(Connection connection) throws SQLException {
        String product = connection.getMetaData().getDatabaseProductName();
        return Arrays.stream(Database.values())
                .filter(database -> database.product().equalsIgnoreCase(product))
                .findFirst()
                .map(Dialect::of)
                .orElseThrow(() -> new StoreException(
                        "Database '" + product + "' is not supported. Supported are "
                                + Arrays.stream(Database.values())
                                        .map(Database::product)
                                        .collect(Collectors.joining(", "))
                                + ". If it speaks the SQL of one of these, choose that one:"
                                + " JdbcStore.builder(dataSource).database(Database.POSTGRESQL)",
                        null));
    }

    String quote(String name) {
        String mark = catalogIsSchema ? "`" : "\"";
        return mark + name.replace(mark, mark + mark) + mark;
    }

    static Builder builder() {
        return new Builder();
    }

    /** With everything as it is here. */
    public Builder toBuilder() {
        return builder()
                .database(database)
                .claim(claim)
                .claimJoined(claimJoined)
                .read(read)
                .readAndEnd(readAndEnd)
                .confirm(confirm)
                .confirmAndCommit(confirmAndCommit)
                .registerConsumer(registerConsumer)
                .storeResult(storeResult)
                .takenCodes(takenCodes)
                .faults(faults)
                .committing(committing)
                .storesClaimId(storesClaimId)
                .key(key)
                .keyOf(keyOf)
                .waitUnits(waitUnits)
                .catalogIsSchema(catalogIsSchema)
                .embedded(embedded)
                .checks(checks)
                .batch(batch)
                .watermark(watermark);
    }

    /** Gives each value by its name. Not thread-safe. */
    public static final class Builder {
        private @Nullable Database database;
        private @Nullable String claim;
        private @Nullable String claimJoined;
        private @Nullable String read;
        private @Nullable String readAndEnd;
        private @Nullable String confirm;
        private @Nullable String confirmAndCommit;
        private @Nullable String registerConsumer;
        private @Nullable String storeResult;
        private Set<Integer> takenCodes = Set.of();
        private @Nullable FaultCodes faults;
        private @Nullable Set<String> committing;
        private boolean storesClaimId;
        private @Nullable Function<UUID, NamedSql.Parameter> key;
        private @Nullable KeyReader keyOf;
        private @Nullable ToLongFunction<Duration> waitUnits;
        private boolean catalogIsSchema;
        private boolean embedded;
        private @Nullable List<Check> checks;
        private @Nullable BatchSql batch;
        private @Nullable WatermarkSql watermark;

        Builder database(Database value) {
            database = value;
            return this;
        }

        public Builder claim(String value) {
            claim = value;
            return this;
        }

        public Builder claimJoined(String value) {
            claimJoined = value;
            return this;
        }

        public Builder read(String value) {
            read = value;
            return this;
        }

        public Builder readAndEnd(String value) {
            readAndEnd = value;
            return this;
        }

        public Builder confirm(String value) {
            confirm = value;
            return this;
        }

        public Builder confirmAndCommit(String value) {
            confirmAndCommit = value;
            return this;
        }

        public Builder registerConsumer(String value) {
            registerConsumer = value;
            return this;
        }

        Builder storeResult(String value) {
            storeResult = value;
            return this;
        }

        Builder takenCodes(Set<Integer> value) {
            takenCodes = value;
            return this;
        }

        public Builder faults(FaultCodes value) {
            faults = value;
            return this;
        }

        Builder committing(Set<String> value) {
            committing = value;
            return this;
        }

        Builder storesClaimId(boolean value) {
            storesClaimId = value;
            return this;
        }

        Builder key(Function<UUID, NamedSql.Parameter> value) {
            key = value;
            return this;
        }

        Builder keyOf(KeyReader value) {
            keyOf = value;
            return this;
        }

        Builder waitUnits(ToLongFunction<Duration> value) {
            waitUnits = value;
            return this;
        }

        Builder catalogIsSchema(boolean value) {
            catalogIsSchema = value;
            return this;
        }

        Builder embedded(boolean value) {
            embedded = value;
            return this;
        }

        Builder checks(List<Check> value) {
            checks = value;
            return this;
        }

        Builder batch(BatchSql value) {
            batch = value;
            return this;
        }

        Builder watermark(WatermarkSql value) {
            watermark = value;
            return this;
        }

        public Dialect build() {
            return new Dialect(
                    Objects.requireNonNull(database, "database"),
                    Objects.requireNonNull(claim, "claim"),
                    Objects.requireNonNull(claimJoined, "claimJoined"),
                    Objects.requireNonNull(read, "read"),
                    Objects.requireNonNull(readAndEnd, "readAndEnd"),
                    Objects.requireNonNull(confirm, "confirm"),
                    Objects.requireNonNull(confirmAndCommit, "confirmAndCommit"),
                    Objects.requireNonNull(registerConsumer, "registerConsumer"),
                    Objects.requireNonNull(storeResult, "storeResult"),
                    takenCodes,
                    Objects.requireNonNull(faults, "faults"),
                    Objects.requireNonNull(committing, "committing"),
                    storesClaimId,
                    Objects.requireNonNull(key, "key"),
                    Objects.requireNonNull(keyOf, "keyOf"),
                    Objects.requireNonNull(waitUnits, "waitUnits"),
                    catalogIsSchema,
                    embedded,
                    Objects.requireNonNull(checks, "checks"),
                    Objects.requireNonNull(batch, "batch"),
                    Objects.requireNonNull(watermark, "watermark"));
        }
    }
}
