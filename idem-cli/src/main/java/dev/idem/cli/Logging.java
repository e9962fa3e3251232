package dev.idem.cli;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.Configurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.ConsoleAppender;
import ch.qos.logback.core.encoder.LayoutWrappingEncoder;
import ch.qos.logback.core.spi.ContextAwareBase;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.LoggerFactory;

/**
 * Warnings to stderr, more with {@code --verbose}; stdout belongs to the answer. Written in code, because reading a
 * configuration file would double the time a small command takes to start.
 */
public final class Logging extends ContextAwareBase implements Configurator {
    private static final String POOL = "com.zaxxer.hikari";
    private static final Set<String> HUSHED = ConcurrentHashMap.newKeySet();

    /** Called by the logging library, which finds this class as a service. */
    @Override
    public ExecutionStatus configure(LoggerContext context) {
        var layout = new LogLayout();
        layout.setContext(context);
        layout.start();
        var encoder = new LayoutWrappingEncoder<ILoggingEvent>();
        encoder.setContext(context);
        encoder.setLayout(layout);
        encoder.start();
        var stderr = new ConsoleAppender<ILoggingEvent>();
        stderr.setContext(context);
        stderr.setTarget("System.err");
        stderr.setEncoder(encoder);
        stderr.start();
        context.getLogger(Logger.ROOT_LOGGER_NAME).addAppender(stderr);
        setLevels(context, false);
        return ExecutionStatus.DO_NOT_INVOKE_NEXT_IF_ANY;
    }

    public static void configure(boolean verbose) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            setLevels(context, verbose);
        }
    }

    /** Lets a library speak of errors only, where what it warns of is done on purpose; until the next command. */
    public static void hush(String library) {
        if (LoggerFactory.getILoggerFactory() instanceof LoggerContext context) {
            HUSHED.add(library);
            context.getLogger(library).setLevel(Level.ERROR);
        }
    }

    private static void setLevels(LoggerContext context, boolean verbose) {
        HUSHED.forEach(library -> context.getLogger(library).setLevel(null));
        HUSHED.clear();
        context.getLogger(Logger.ROOT_LOGGER_NAME).setLevel(verbose ? Level.INFO : Level.WARN);
        context.getLogger("dev.idem").setLevel(verbose ? Level.DEBUG : Level.WARN);
        // The pool logs what it then throws, with a stack trace; the error line says it once.
        context.getLogger(POOL).setLevel(verbose ? Level.INFO : Level.OFF);
    }
}
