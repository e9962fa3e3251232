package dev.idem.jdbc;

import static dev.idem.jdbc.History.WINDOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.jdbc.admin.JdbcRetention;
import dev.idem.jdbc.internal.sql.Micros;
import dev.idem.jdbc.schema.Database;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** How far back a sweep may go: whose window holds, and what a downtime does to it. */
class WindowTest {
    private static final Duration MONTH = Duration.ofDays(30);

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("of two windows the longer holds, with a warning, whoever declares first")
    void theLongerWindowHolds(Database database) throws Exception {
        try (History history = new History(database);
                Inbox longer = history.db.inbox();
                Inbox shorter = history.db.inbox();
                CapturedLog log = CapturedLog.of(JdbcStore.class)) {
            longer.register(keeping(MONTH));
            shorter.register(keeping(Duration.ofDays(1)));
            assertThat(window(history)).isEqualTo(MONTH);
            assertThat(log.warnings())
                    .singleElement()
                    .asString()
                    .contains("payments: this instance wants a window of PT24H, but another one wanted PT720H");
            history.paid("old", WINDOW.plusDays(1));
            assertThat(history.sweep().get(0).markers()).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("a shorter window holds when nobody has wanted the longer one for a day, and then at once")
    void aShorterWindowHoldsAfterADay(Database database) throws Exception {
        try (History history = new History(database);
                Inbox shorter = history.db.inbox()) {
            history.paid("old", Duration.ofDays(2));
            history.sweep();
            history.retention("declared_at", Duration.ofHours(25));
            shorter.register(keeping(Duration.ofDays(1)));
            assertThat(window(history)).isEqualTo(Duration.ofDays(1));
            assertThat(history.sweep().get(0).markers()).isEqualTo(1);
            assertThat(History.pay(shorter, keeping(Duration.ofDays(1)), History.message("old", Duration.ofDays(2))))
                    .isInstanceOf(Outcome.Undecidable.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("for ever is longer than any window")
    void forEverHolds(Database database) throws Exception {
        try (History history = new History(database);
                Inbox inbox = history.db.inbox()) {
            inbox.register(History.payments(Policy.defaults().withWindowForEver()));
            history.inbox.register(keeping(MONTH));
            history.paid("old", Duration.ofDays(100));
            assertThat(history.sweep().get(0).window()).isEmpty();
            assertThat(history.marked("old")).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName(
            "RP-01 after ten days of downtime the window of before is not lost: a sweep goes two days on from the last")
    void aDowntimeDoesNotEatTheWindow(Database database) throws Exception {
        try (History history = new History(database)) {
            Duration down = Duration.ofDays(10);
            history.paid("a day before", down.plusDays(1));
            history.paid("six days before", down.plusDays(6));
            history.retention("swept_at", down);
            history.retention("cutoff", down.plus(WINDOW));

            JdbcRetention.Swept swept = history.sweep().get(0);

            assertThat(Duration.between(swept.cutoff().orElseThrow(), Instant.now()))
                    .isBetween(
                            down.plusDays(5).minusMinutes(1), down.plusDays(5).plusMinutes(1));
            assertThat(history.marked("six days before")).isFalse();
            assertThat(history.pay(History.message("a day before", down.plusDays(1))))
                    .isInstanceOf(Outcome.Duplicate.class);
            history.retention("swept_at", Duration.ofHours(1));
            assertThat(Duration.between(
                            history.sweep().get(0).cutoff().orElseThrow(),
                            swept.cutoff().orElseThrow()))
                    .as("twice as fast as time passes")
                    .isBetween(Duration.ofMinutes(-121), Duration.ofMinutes(-119));
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("RP-01 the history of a consumer that is down stands still while others sweep")
    void theHistoryOfOneThatIsDownStandsStill(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("1", Duration.ofDays(11));
            history.retention("seen_at", Duration.ofDays(5));
            assertThat(history.sweep().get(0).markers()).isZero();
            history.retention("seen_at", Duration.ofDays(1));
            history.retention("swept_at", Duration.ofDays(4));
            assertThat(history.sweep().get(0).markers()).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("LS-08 LS-09 a clock that was set back stops the sweep's progress, and breaks nothing")
    void aClockThatWasSetBack(Database database) throws Exception {
        try (History history = new History(database)) {
            history.paid("old", WINDOW.plusHours(1));
            history.retention("swept_at", Duration.ofHours(-2));
            history.retention("cutoff", WINDOW.plusHours(2));
            assertThat(history.sweep().get(0).markers()).isZero();
            assertThat(history.pay(History.message("old", WINDOW.plusHours(1)))).isInstanceOf(Outcome.Duplicate.class);
        }
    }

    @ParameterizedTest
    @EnumSource(Database.class)
    @DisplayName("each consumer has its window, and only the consumers that are named are swept")
    void eachConsumerHasItsWindow(Database database) throws Exception {
        try (History history = new History(database)) {
            Consumer audit = Consumer.named("audit")
                    .policy(Policy.defaults().withWindow(MONTH))
                    .build();
            history.paid("1", WINDOW.plusDays(1));
            history.pay(audit, History.message("1", WINDOW.plusDays(1)));
            history.age("1 = 1", WINDOW.plusDays(1));
            JdbcRetention retention = JdbcRetention.of(JdbcSchema.of(history.db.plain()));
            assertThat(retention.run(List.of("audit"), progress -> {}).consumers())
                    .singleElement()
                    .satisfies(swept -> assertThat(swept.markers()).isZero());
            assertThat(history.db.markers()).isEqualTo(2);
            assertThat(retention.run(List.of(), progress -> {}).consumers())
                    .extracting(JdbcRetention.Swept::consumer, JdbcRetention.Swept::markers)
                    .containsExactlyInAnyOrder(
                            org.assertj.core.groups.Tuple.tuple("payments", 1L),
                            org.assertj.core.groups.Tuple.tuple("audit", 0L));
            assertThat(history.pay(audit, History.message("1", WINDOW.plusDays(1))))
                    .isInstanceOf(Outcome.Duplicate.class);
        }
    }

    private static Consumer keeping(Duration window) {
        return History.payments(Policy.defaults().withWindow(window));
    }

    private static Duration window(History history) {
        return Micros.duration(history.db.number("SELECT keep_for FROM idem_retention"));
    }
}
