package dev.idem.jdbc.internal.marker;

import dev.idem.jdbc.internal.sql.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The statements that handlers handed over. They are sent in steps, each a JDBC batch of one SQL text. A statement goes
 * into the first step of its text that does not lie before the last statement of its own lane, so what must stay in order
 * does, and the statements of independent messages meet in few steps. Behind them come those that are to be sent last.
 */
final class Deferred<O> {
    private final List<Call<O>> calls = new ArrayList<>();
    private final List<Call<O>> last = new ArrayList<>();

    /** @param lanes statements that share one keep their order */
    void add(O owner, List<Object> lanes, String sql, @Nullable Object[] args) {
        calls.add(new Call<>(owner, lanes, sql, args.clone()));
    }

    /** Sent behind all others, in the order of its line, whosever it is. */
    void addLast(O owner, String line, String sql, @Nullable Object[] args) {
        last.add(new Call<>(owner, List.of(line), sql, args.clone()));
    }

    boolean isEmpty() {
        return calls.isEmpty() && last.isEmpty();
    }

    boolean has(O owner) {
        return Stream.concat(calls.stream(), last.stream()).anyMatch(call -> call.owner == owner);
    }

    void forget(O owner) {
        calls.removeIf(call -> call.owner == owner);
        last.removeIf(call -> call.owner == owner);
    }

    List<Step<O>> steps() {
        List<Step<O>> steps = steps(calls);
        steps.addAll(steps(last));
        return steps;
    }

    private static <O> List<Step<O>> steps(List<Call<O>> calls) {
        List<Step<O>> steps = new ArrayList<>();
        Map<String, List<Integer>> stepsOfSql = new HashMap<>();
        Map<Object, Integer> lastOfLane = new HashMap<>();
        for (Call<O> call : calls) {
            int from = call.lanes.stream()
                    .mapToInt(lane -> lastOfLane.getOrDefault(lane, 0))
                    .max()
                    .orElse(0);
            List<Integer> candidates = stepsOfSql.computeIfAbsent(call.sql, sql -> new ArrayList<>());
            int at =
                    candidates.stream().filter(step -> step >= from).findFirst().orElse(steps.size());
            if (at == steps.size()) {
                steps.add(new Step<>(call.sql, new ArrayList<>()));
                candidates.add(at);
            }
            steps.get(at).calls.add(call);
            call.lanes.forEach(lane -> lastOfLane.put(lane, at));
        }
        return steps;
    }

    @SuppressWarnings("ArrayRecordComponent") // bound once, compared by nobody
    record Call<O>(
            O owner,
            List<Object> lanes,
            String sql,
            @Nullable Object[] args) {
        private void bind(PreparedStatement statement) throws SQLException {
            for (int i = 0; i < args.length; i++) {
                Object value = args[i];
                if (value instanceof DeferredLock) {
                    return; // it comes last
                }
                // Drivers know this one only under another name.
                statement.setObject(i + 1, value instanceof Instant time ? time.atOffset(ZoneOffset.UTC) : value);
            }
        }
    }

    /** How the statement of a step is executed. */
    @FunctionalInterface
    interface Sending {
        void send(Statement statement, Transactions.Call execution) throws SQLException;
    }

    /** Statements of one text. */
    record Step<O>(String sql, List<Call<O>> calls) {
        void send(Connection connection, Sending sending) throws SQLException {
            DeferredLock.take(connection, locks());
            try (PreparedStatement statement = connection.prepareStatement(sql)) {
                if (calls.size() == 1) {
                    calls.get(0).bind(statement);
                    sending.send(statement, statement::execute);
                    return;
                }
                for (Call<O> call : calls) {
                    call.bind(statement);
                    statement.addBatch();
                }
                sending.send(statement, statement::executeBatch);
            }
        }

        private List<DeferredLock> locks() {
            return calls.stream()
                    .flatMap(call -> Arrays.stream(call.args))
                    .filter(DeferredLock.class::isInstance)
                    .map(DeferredLock.class::cast)
                    .toList();
        }

        List<Step<O>> halves() {
            int middle = calls.size() / 2;
            return List.of(
                    new Step<>(sql, calls.subList(0, middle)), new Step<>(sql, calls.subList(middle, calls.size())));
        }
    }
}
