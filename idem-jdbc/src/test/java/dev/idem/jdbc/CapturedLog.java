package dev.idem.jdbc;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.core.read.ListAppender;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.LoggerFactory;

/** What is logged at any level while this is open. */
public final class CapturedLog implements AutoCloseable {
    private final Logger logger;
    private final Level before;
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    private CapturedLog(Logger logger) {
        this.logger = logger;
        before = logger.getLevel();
        logger.setLevel(Level.TRACE);
        appender.start();
        logger.addAppender(appender);
    }

    public static CapturedLog of(Class<?> type) {
        return new CapturedLog((Logger) LoggerFactory.getLogger(type));
    }

    static CapturedLog of(String name) {
        return new CapturedLog((Logger) LoggerFactory.getLogger(name));
    }

    public List<String> warnings() {
        return List.copyOf(appender.list).stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .map(ILoggingEvent::getFormattedMessage)
                .toList();
    }

    /** Every line with the texts of its exceptions. */
    public List<String> everything() {
        return from(Level.TRACE);
    }

    /** The same of what somebody must look at: warnings and errors. */
    List<String> alarms() {
        return from(Level.WARN);
    }

    private List<String> from(Level lowest) {
        List<String> lines = new ArrayList<>();
        for (ILoggingEvent event : List.copyOf(appender.list)) {
            if (!event.getLevel().isGreaterOrEqual(lowest)) {
                continue;
            }
            StringBuilder line = new StringBuilder(event.getFormattedMessage());
            for (IThrowableProxy cause = event.getThrowableProxy(); cause != null; cause = cause.getCause()) {
                line.append(" | ").append(cause.getMessage());
            }
            lines.add(line.toString());
        }
        return lines;
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(before);
    }
}
