package dev.idem.jdbc;

import static org.awaitility.Awaitility.await;

import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.Policy;
import dev.idem.jdbc.admin.JdbcReplays;
import dev.idem.jdbc.admin.ReplayOperator;
import dev.idem.jdbc.schema.Database;
import dev.idem.replay.ReplaySession;
import dev.idem.replay.ReplaySource;
import dev.idem.replay.ReplaySpec;
import dev.idem.replay.Replayer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.function.Function;
import java.util.stream.IntStream;
import javax.sql.DataSource;

/** A database, an inbox on it, and a person who asks for replays of messages that a list holds. */
public final class ReplayBench implements AutoCloseable {
    public static final ReplaySpec GIVEN = ReplaySpec.of("given");

    public final Db db;
    final JdbcStore store;
    public final Inbox inbox;
    public final JdbcReplays replays;
    public final List<Message> given = new ArrayList<>();
    private final List<Replayer> replayers = new ArrayList<>();

    public ReplayBench(Database database) {
        this(database, db -> db.pool(10));
    }

    /** With an inbox that has its connections from elsewhere. */
    ReplayBench(Database database, Function<Db, DataSource> connections) {
        db = Db.fresh(database);
        store = db.store(connections.apply(db));
        inbox = Inbox.create(store);
        replays = JdbcReplays.of(JdbcSchema.of(db.plain()));
    }

    public static Consumer.Builder paying(Policy.Replay replay) {
        return Consumer.named("payments")
                .policy(Policy.defaults().withReplay(replay))
                .otherwise((message, tx) -> {
                    Db.pay(tx.connection(), message.id().orElseThrow());
                    return null;
                });
    }

    static Message message(String id) {
        return Message.builder()
                .id(id)
                .type("paid")
                .orderingKey(id.substring(0, 1))
                .header("trace", "t-" + id)
                .payload(id.getBytes(StandardCharsets.UTF_8))
                .build();
    }

    static List<Message> messages(int count) {
        return IntStream.range(0, count).mapToObj(i -> message("m" + i)).toList();
    }

    public static Message of(Message message, String session) {
        return message.toBuilder().replaySession(session).build();
    }

    public ReplayOperator anna() {
        return replays.as("anna", "the sums were wrong").perSecond(100_000);
    }

    void registered(Consumer consumer) {
        inbox.register(consumer);
    }

    public Replayer replayer(Consumer consumer, ReplaySource... more) {
        return replayer(consumer, Duration.ofSeconds(1), more);
    }

    Replayer replayer(Consumer consumer, Duration lease, ReplaySource... more) {
        Replayer.Builder builder = Replayer.builder(inbox)
                .consumer(consumer)
                .source(new Given())
                .source(JdbcReplays.stored(JdbcSchema.of(db.plain())))
                .lease(lease)
                .poll(Duration.ofMillis(50));
        for (ReplaySource source : more) {
            builder.source(source);
        }
        Replayer replayer = builder.start();
        replayers.add(replayer);
        return replayer;
    }

    ReplaySource given() {
        return new Given();
    }

    public ReplaySession awaited(String name, ReplaySession.State state) {
        await().atMost(Duration.ofSeconds(60))
                .pollInterval(Duration.ofMillis(30))
                .until(() -> replays.status(name).orElseThrow().state() == state);
        return replays.status(name).orElseThrow();
    }

    /** The list, from the cursor on. */
    private final class Given implements ReplaySource {
        @Override
        public String scheme() {
            return "given";
        }

        @Override
        public Reading open(ReplaySession session, ReplaySpec spec) {
            int[] next = {session.cursor().map(Integer::parseInt).orElse(0)};
            return new Reading() {
                @Override
                public Batch next(int most) {
                    int to = Math.min(given.size(), next[0] + most);
                    List<Message> some = given.subList(next[0], to);
                    next[0] = to;
                    return new Batch(some, Integer.toString(to), to == given.size());
                }

                @Override
                public OptionalLong total() {
                    return OptionalLong.of(given.size());
                }

                @Override
                public void close() {}
            };
        }
    }

    @Override
    public void close() {
        replayers.forEach(Replayer::close);
        inbox.close();
        db.close();
    }
}
