package dev.idem.cli.demo;

import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.InboxListener;
import dev.idem.Outcome;
import dev.idem.Policy;
import dev.idem.Settlement;
import dev.idem.cli.Logging;
import dev.idem.jdbc.JdbcStore;
import dev.idem.spi.FaultPoint;
import java.io.BufferedReader;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;

/**
 * A consumer JVM with a real broker: messages come from there, and the answers on stdout only count. From stdin it hears
 * where to stop and wait for its end.
 */
public final class ListenerMain {
    /** The environment variable that tells the {@link Place}. */
    static final String BROKER = "IDEM_DEMO_BROKER";

    static final String ARM = "ARM ";

    /** A handler takes milliseconds, and a transaction should not take long. */
    private static final Policy POLICY = Policy.defaults().withBatchLimits(10, 1 << 20);

    private ListenerMain() {}

    public static void main(String... args) throws Exception {
        Logging.configure(Boolean.getBoolean(ConsumerMain.VERBOSE));
        var answers = new Answers(new FileOutputStream(FileDescriptor.out));
        System.setOut(System.err); // whatever a library prints must not look like an answer
        Thread.setDefaultUncaughtExceptionHandler(ConsumerMain::crash);
        SeatKind kind = SeatKind.valueOf(args[0]);
        BrokerClient client = Place.parse(System.getenv(BROKER)).client();
        try (HikariDataSource pool = ConsumerMain.pool(System.getenv(ConsumerMain.URL))) {
            var charges = new Charges(answers);
            if (kind == SeatKind.IDEM) {
                withIdem(client, pool, charges, answers);
            } else {
                try (AutoCloseable loop = client.loop(new ByHand(kind.open(pool, charges), answers))) {
                    hear(answers);
                }
            }
        }
    }

    private static void withIdem(BrokerClient client, HikariDataSource pool, Charges charges, Answers answers)
            throws Exception {
        Consumer consumer = Consumer.named("payments")
                .policy(POLICY)
                .otherwise((message, tx) -> charges.charge(tx.connection(), Delivery.of(message)))
                .build();
        try (Inbox inbox = Inbox.builder(JdbcStore.create(pool))
                        .listener(counting(answers))
                        .steps((step, key) -> {
                            if (step == FaultPoint.AFTER_COMMIT) {
                                answers.pass(CrashWindow.BEFORE_ACK);
                            }
                        })
                        .build();
                AutoCloseable listener = client.listen(consumer, inbox)) {
            hear(answers);
        }
    }

    private static InboxListener counting(Answers answers) {
        return new InboxListener() {
            @Override
            public void settled(InboxListener.Delivery delivery) {
                Outcome<?> outcome = delivery.outcome();
                if (outcome.settlement() != Settlement.RETRY) {
                    answers.send(new Answer.Settled(0, outcome.settlement(), outcome instanceof Outcome.Duplicate));
                }
            }
        };
    }

    private static void hear(Answers answers) throws IOException {
        answers.send(new Answer.Ready());
        var in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); !ConsumerMain.QUIT.equals(line); line = in.readLine()) {
            if (line == null) {
                Runtime.getRuntime().halt(1); // the demo is gone, and this must not outlive it
                return;
            }
            answers.arm(CrashWindow.valueOf(line.substring(ARM.length())));
        }
    }
}
