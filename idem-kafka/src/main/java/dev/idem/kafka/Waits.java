package dev.idem.kafka;

import dev.idem.broker.Waiting;
import dev.idem.broker.spi.Pace;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;

/** What a listener waits for at its broker, by name. Thread-safe. */
final class Waits {
    private final String who;
    private final Map<String, Pace> paces = new ConcurrentHashMap<>();
    private volatile boolean ended;

    Waits(String who) {
        this.who = who;
    }

    void failed(String what, Throwable cause) {
        if (!ended) {
            pace(what).failed(cause);
        }
    }

    /** @param why what to tell people about it */
    void failed(String what, Throwable cause, String why) {
        if (!ended) {
            pace(what).failed(cause, why);
        }
    }

    private Pace pace(String what) {
        return paces.computeIfAbsent(what, name -> Pace.ofBroker(who, name));
    }

    void succeeded(String what) {
        Pace pace = paces.get(what);
        if (pace != null) {
            pace.succeeded();
        }
    }

    /** Whether it is too early to ask for this again. */
    boolean isTooEarly(String what) {
        Pace pace = paces.get(what);
        return pace != null && !pace.left().isZero();
    }

    Optional<Waiting> waiting() {
        return paces.values().stream()
                .map(Pace::waiting)
                .flatMap(Optional::stream)
                .findFirst();
    }

    /** From now on nothing is told: clients that are being closed fail as if the broker were away. */
    void end() {
        ended = true;
    }
}
