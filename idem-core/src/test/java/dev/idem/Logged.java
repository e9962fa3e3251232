package dev.idem;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.read.ListAppender;
import java.util.List;
import org.slf4j.LoggerFactory;

/** Everything Idem logs while this is open, down to DEBUG, with the texts of exceptions. */
public final class Logged implements AutoCloseable {
    private final Logger logger = (Logger) LoggerFactory.getLogger("dev.idem");
    private final ListAppender<ILoggingEvent> appender = new ListAppender<>();

    public Logged() {
        appender.start();
        logger.setLevel(Level.DEBUG);
        logger.addAppender(appender);
    }

    public List<String> lines() {
        return List.copyOf(appender.list).stream().map(Logged::line).toList();
    }

    public List<String> lines(Level level) {
        return List.copyOf(appender.list).stream()
                .filter(e -> e.getLevel() == level)
                .map(Logged::line)
                .toList();
    }

    private static String line(ILoggingEvent event) {
        String cause =
                event.getThrowableProxy() == null ? "" : "\n" + ThrowableProxyUtil.asString(event.getThrowableProxy());
        return event.getFormattedMessage() + cause;
    }

    @Override
    public void close() {
        logger.detachAppender(appender);
        logger.setLevel(null);
    }
}
