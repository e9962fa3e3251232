package dev.idem.kafka;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.TerminalException;
import dev.idem.broker.DeadLetters;
import dev.idem.broker.LetterFilter;
import dev.idem.broker.LetterReplay;
import dev.idem.broker.ListenerState;
import dev.idem.test.MemoryStore;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.utils.AppInfoParser;
import org.slf4j.LoggerFactory;

/** A listener in a JVM of its own, with a heap or a client of another size or version. */
final class ForkedConsumer {
    /** The ids of messages begin with it that are set aside. */
    static final String BAD = "bad";

    private static final long SLOW_MILLIS = 20;

    private ForkedConsumer() {}

    /** Takes so many messages, restarts, closes, and says what client it had and how many letters there are. */
    public static void main(String[] args) throws Exception {
        CountDownLatch done = new CountDownLatch(Integer.parseInt(args[2]));
        Consumer consumer = Consumer.named("forked")
                .otherwise((message, tx) -> {
                    Thread.sleep(SLOW_MILLIS);
                    done.countDown();
                    if (message.id().orElseThrow().startsWith(BAD)) {
                        throw new TerminalException("never", null);
                    }
                    return "";
                })
                .build();
        Map<String, Object> config = Map.of("bootstrap.servers", args[0], "group.id", args[1] + "-forked");
        try (Inbox inbox = Inbox.create(new MemoryStore());
                KafkaInboxListener listener = KafkaInbox.listen(config, List.of(args[1]), consumer, inbox)) {
            while (done.getCount() > 0 && listener.failure().isEmpty()) {
                Thread.sleep(SLOW_MILLIS);
            }
            listener.pause();
            listener.restart();
            listener.resume();
            while (listener.state() != ListenerState.RUNNING || listener.pending() > 0) {
                Thread.sleep(SLOW_MILLIS);
            }
            listener.close();
            System.out.println(listener.state() + " " + AppInfoParser.getVersion() + " "
                    + listener.failure().map(Throwable::toString).orElse("well") + " letters " + replayed(args));
        }
    }

    /** Sends all letters again, and answers how many these were. */
    private static long replayed(String... args) {
        try (DeadLetters letters =
                KafkaDeadLetters.open(Map.of("bootstrap.servers", args[0]), args[1] + ".dead-letters")) {
            return LetterReplay.of(LetterFilter.all())
                    .as("anna", "with another client", (consumer, action, actor, reason, detail) -> {})
                    .run(letters, progress -> {})
                    .sent();
        }
    }

    /** Runs it and answers what it said. */
    static String run(KafkaBed bed, int messages, Path client, String... options) throws Exception {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(options));
        command.addAll(List.of("-cp", classPath(client), ForkedConsumer.class.getName()));
        command.addAll(List.of(KafkaBed.server().address(), bed.topic, Integer.toString(messages)));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            return new String(process.getInputStream().readAllBytes());
        } finally {
            process.destroyForcibly();
        }
    }

    /** The client that this JVM has. */
    static Path client() throws Exception {
        return place(KafkaConsumer.class);
    }

    private static String classPath(Path client) throws Exception {
        List<Path> all = new ArrayList<>(List.of(client));
        for (Class<?> type : List.of(
                ForkedConsumer.class,
                KafkaInbox.class,
                Inbox.class,
                MemoryStore.class,
                LoggerFactory.class,
                ch.qos.logback.classic.Logger.class,
                ch.qos.logback.core.Context.class)) {
            all.add(place(type));
        }
        return all.stream().map(Path::toString).distinct().collect(Collectors.joining(java.io.File.pathSeparator));
    }

    private static Path place(Class<?> type) throws Exception {
        return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    }
}
