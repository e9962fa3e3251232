package dev.idem.kafka;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** What Idem logs at WARN from now on, until the process ends: some lines. */
final class Warnings extends AppenderBase<ILoggingEvent> {
    private final List<String> lines = new CopyOnWriteArrayList<>();

    private Warnings() {}

    static List<String> fromNowOn() {
        Warnings warnings = new Warnings();
        warnings.start();
        ((Logger) LoggerFactory.getLogger("dev.idem")).addAppender(warnings);
        return warnings.lines;
    }

    @Override
    protected void append(ILoggingEvent event) {
        if (event.getLevel() == Level.WARN) {
            lines.add(event.getFormattedMessage());
        }
    }
}
