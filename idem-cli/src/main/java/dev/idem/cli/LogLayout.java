package dev.idem.cli;

import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.IThrowableProxy;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.LayoutBase;
import java.time.Instant;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;

/** One line for each log event. Libraries quote messages and addresses: nothing of that reaches the terminal as it came. */
final class LogLayout extends LayoutBase<ILoggingEvent> {
    private static final DateTimeFormatter TIME =
            DateTimeFormatter.ofPattern("HH:mm:ss.SSS").withZone(ZoneId.systemDefault());

    @Override
    public String doLayout(ILoggingEvent event) {
        String logger = event.getLoggerName();
        StringBuilder line = new StringBuilder(TIME.format(Instant.ofEpochMilli(event.getTimeStamp())))
                .append(String.format(" %-5s %s: ", event.getLevel(), logger.substring(logger.lastIndexOf('.') + 1)))
                .append(Printable.line(Redaction.patterns().apply(event.getFormattedMessage())))
                .append(System.lineSeparator());
        IThrowableProxy thrown = event.getThrowableProxy();
        if (thrown != null) {
            line.append(Printable.trace(Redaction.patterns().apply(ThrowableProxyUtil.asString(thrown))));
        }
        return line.toString();
    }
}
