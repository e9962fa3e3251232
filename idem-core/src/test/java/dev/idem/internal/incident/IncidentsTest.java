package dev.idem.internal.incident;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import dev.idem.Logged;
import dev.idem.internal.incident.Incident.Kind;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.UndeclaredThrowableException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import shop.Till;

class IncidentsTest {
    private final AtomicLong clock = new AtomicLong();
    private final Incidents incidents = new Incidents(clock::get);

    private static Incident incident(Kind kind, String id, @Nullable Throwable cause) {
        return incident(kind, id, cause, UnaryOperator.identity());
    }

    private static Incident incident(Kind kind, String id, @Nullable Throwable cause, UnaryOperator<String> redaction) {
        return new Incident(kind, "billing", id, "", "", cause, 0, redaction);
    }

    @Test
    @DisplayName(
            "LV-17 a failure is one line with consumer, id, class, text and the first frame of the user's own code")
    void oneLine() {
        Throwable cause = catchThrowable(() -> Till.charge("no till"));
        try (Logged logged = new Logged()) {
            incidents.tell(incident(Kind.FAILED, "m-1", cause));
            assertThat(logged.lines(Level.WARN))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .startsWith("billing: message m-1 failed, and is tried again:"
                                    + " java.lang.NullPointerException: no till at shop.Till.charge(Till.java:")
                            .hasLineCount(1));
        }
    }

    @Test
    @DisplayName("LV-17 when nothing is tried any more the line has the whole cause, each text of it redacted")
    void wholeCause() {
        Exception cause = new IllegalStateException(
                "card 4711", new IllegalArgumentException("4711 is blocked", new Exception("4711")));
        cause.addSuppressed(new Exception("also 4711"));
        try (Logged logged = new Logged()) {
            incidents.tell(incident(Kind.PARKED, "m-1", cause, text -> text.replace("4711", "****")));
            assertThat(logged.lines(Level.WARN))
                    .singleElement()
                    .satisfies(line -> assertThat(line)
                            .doesNotContain("4711")
                            .contains(
                                    "is parked: java.lang.IllegalStateException: card ****",
                                    "Caused by: java.lang.IllegalArgumentException: **** is blocked",
                                    "Caused by: java.lang.Exception: ****",
                                    "Suppressed: java.lang.Exception: also ****",
                                    "\tat dev.idem.internal.incident.IncidentsTest.wholeCause"));
        }
    }

    @Test
    void whatOnlyPassesAnExceptionOnIsTakenOff() {
        Exception first = new Exception("first");
        assertThat(List.<Throwable>of(
                        new InvocationTargetException(first),
                        new ExecutionException(new CompletionException(first)),
                        new UndeclaredThrowableException(new InvocationTargetException(first)),
                        first))
                .allSatisfy(failure -> assertThat(Causes.unwrapped(failure)).isSameAs(first));
        Exception empty = new ExecutionException(null);
        assertThat(Causes.unwrapped(empty)).isSameAs(empty);
    }

    @Test
    @DisplayName("SE-07 nothing in an id, a detail or an exception's text begins another line")
    void nothingForgesALine() {
        String evil = "m\r\n2026 INFO all is well\u001b[2K\u202E\u2028\u0085";
        Incident incident =
                new Incident(Kind.SET_ASIDE, evil, evil, evil, evil, new Exception(evil), 0, UnaryOperator.identity());
        try (Logged logged = new Logged()) {
            incidents.tell(incident);
            String line = logged.lines(Level.WARN).get(0);
            assertThat(line).doesNotContain("\r", "\u001b", "\u202E", "\u2028", "\u0085");
            assertThat(line.lines()).noneMatch(part -> part.startsWith("2026"));
            assertThat(line).contains("message m\\u{d}\\u{a}2026 INFO all is well\\u{1b}");
        }
    }

    @Test
    @DisplayName("of many similar ones a few are told, the rest is counted, and the next line says how many")
    void similarOnesAreCounted() {
        try (Logged logged = new Logged()) {
            for (int i = 0; i < 100; i++) {
                incidents.tell(incident(Kind.REJECTED, "m" + i, null));
            }
            assertThat(logged.lines(Level.WARN)).hasSize(Similar.FEW);
            assertThat(logged.lines(Level.WARN).get(Similar.FEW - 1)).contains("only counted for a minute");
            assertThat(logged.lines(Level.DEBUG)).hasSize(100 - Similar.FEW);

            incidents.tell(incident(Kind.CONFLICT, "other", null));
            assertThat(logged.lines(Level.WARN)).hasSize(Similar.FEW + 1);

            clock.addAndGet(Similar.WINDOW_NANOS);
            incidents.tell(incident(Kind.REJECTED, "late", null));
            assertThat(logged.lines(Level.WARN).get(Similar.FEW + 1))
                    .contains("message late is rejected", "(" + (100 - Similar.FEW) + " similar suppressed)");
        }
    }

    @Test
    @DisplayName("what was only counted is told by the next line of any kind, or at the end")
    void countsAreNotLost() {
        try (Logged logged = new Logged()) {
            for (int i = 0; i < Similar.FEW + 3; i++) {
                incidents.tell(incident(Kind.REJECTED, "m" + i, null));
            }
            clock.addAndGet(Similar.WINDOW_NANOS);
            incidents.tell(incident(Kind.CONFLICT, "other", null));
            assertThat(logged.lines(Level.WARN)).contains("3 similar suppressed: billing REJECTED");
            for (int i = 0; i < Similar.FEW + 1; i++) {
                incidents.tell(incident(Kind.REJECTED, "m" + i, null));
            }
            incidents.close();
            assertThat(logged.lines(Level.WARN)).contains("1 similar suppressed: billing REJECTED");
        }
    }

    @Test
    @DisplayName("memory is bounded, whatever many kinds of trouble and however many messages there are")
    void bounded() {
        Similar similar = new Similar(clock::get);
        long passed = 0;
        for (int i = 0; i < 10_000; i++) {
            passed += similar.next("kind " + i).passes() ? 1 : 0;
        }
        assertThat(passed).isEqualTo(199 + Similar.FEW + 1);
        Recent recent = new Recent(clock::get);
        for (int i = 0; i < 2_000; i++) {
            assertThat(recent.isKnown("m" + i)).isFalse();
        }
        assertThat(recent.isKnown("m1999")).isTrue();
        assertThat(recent.isKnown("m0")).isFalse();
    }

    @Test
    @DisplayName("the second failure of a message is not told as its first, and its end is told in any case")
    void onceForEachMessage() {
        try (Logged logged = new Logged()) {
            Exception cause = new Exception("x");
            incidents.tellOnce(incident(Kind.FAILED, "m-1", cause));
            incidents.tellOnce(incident(Kind.FAILED, "m-1", cause));
            incidents.tellOnce(incident(Kind.SET_ASIDE, "m-1", cause));
            incidents.tellOnce(incident(Kind.PARKED, "m-1", cause)); // the same end, told by another
            assertThat(logged.lines(Level.WARN))
                    .satisfiesExactly(
                            line -> assertThat(line).contains("m-1 failed"),
                            line -> assertThat(line).contains("m-1 is set aside"));
            clock.addAndGet(Recent.FORGOTTEN_NANOS);
            incidents.tellOnce(incident(Kind.FAILED, "m-1", cause));
            assertThat(logged.lines(Level.WARN)).hasSize(3);
        }
    }

    @Test
    @DisplayName("OP-04 an exception, a redaction or an appender that fails throws nothing at whoever tells")
    void nothingIsThrown() {
        Exception broken = new Exception() {
            private static final long serialVersionUID = 1L;

            @Override
            public String getMessage() {
                throw new StackOverflowError();
            }
        };
        Exception fine = new Exception("4711");
        AtomicInteger asked = new AtomicInteger();
        AppenderBase<ILoggingEvent> appender = new AppenderBase<>() {
            @Override
            public void doAppend(ILoggingEvent event) {
                asked.incrementAndGet();
                throw new AssertionError("the disk is full");
            }

            @Override
            protected void append(ILoggingEvent event) {}
        };
        try (Logged logged = new Logged()) {
            incidents.tell(incident(Kind.PARKED, "m-1", broken));
            incidents.tell(incident(Kind.PARKED, "m-2", fine, text -> {
                throw new IllegalStateException("cannot");
            }));
            assertThat(logged.lines(Level.WARN)).hasSize(2).noneMatch(line -> line.contains("4711"));
        }
        Logger logger = (Logger) LoggerFactory.getLogger("dev.idem");
        appender.start();
        logger.addAppender(appender);
        try {
            incidents.tell(incident(Kind.CONFLICT, "m-3", null));
            incidents.close();
        } finally {
            logger.detachAppender(appender);
        }
        assertThat(asked).hasPositiveValue();
    }

    @Test
    void aMessageIsCalledByItsIdOrItsPlace() {
        assertThat(Incident.nameOf(Optional.of("m-1"), Optional.of("orders-0@7")))
                .isEqualTo("m-1");
        assertThat(Incident.nameOf(Optional.empty(), Optional.of("orders-0@7"))).isEqualTo("at orders-0@7");
        assertThat(Incident.nameOf(Optional.of(" "), Optional.empty())).isEmpty();
    }
}
