package dev.idem.torture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.jdbc.JdbcSchema;
import dev.idem.jdbc.JdbcStore;
import dev.idem.servers.PostgresServer;
import dev.idem.servers.SkipWithoutServer;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A defect that edits statements is there only if the statements still read as it expects. */
@ExtendWith(SkipWithoutServer.class)
class PlantedDefectsTest {
    private static final Duration LIMIT = Duration.ofSeconds(60);

    static Stream<Defect> editing() {
        return Stream.of(Defect.values()).filter(defect -> !defect.edits().isEmpty() || defect == Defect.NONE);
    }

    @ParameterizedTest
    @MethodSource("editing")
    void everyEditOfADefectChangesAStatement(Defect defect) throws Exception {
        List<Item> items = Stream.of(
                        item(0, Mode.LOCAL, Item.Nature.PLAIN),
                        item(1, Mode.LOCAL_ORDERED, Item.Nature.PLAIN),
                        item(2, Mode.LEASED_ORDERED, Item.Nature.PLAIN),
                        item(4, Mode.STEPS, Item.Nature.CHANGED))
                .toList();
        Plan plan = new Plan(items, List.of(items), Set.of());
        PostgresServer server = PostgresServer.shared();
        String url = server.jdbcUrl(server.createDatabase());
        var config = new HikariConfig();
        config.setJdbcUrl(url);
        Set<Integer> found = ConcurrentHashMap.newKeySet();
        AtomicBoolean clock = new AtomicBoolean();
        try (var pool = new HikariDataSource(config)) {
            JdbcSchema.of(pool).apply();
            Business.create(url, plan);
            var source = defect.around(Clock.around(pool, () -> clock.set(true)), found::add);
            Map<Mode, Consumer> consumers = Consumers.of(new Handling(pool, defect, true, () -> {}), defect, true);
            try (Inbox inbox = Inbox.create(JdbcStore.create(source))) {
                for (Item item : items) {
                    inbox.acceptAll(consumers.get(item.mode()), List.of(defect.delivered(item)));
                }
                startedBefore(url);
                consumers.values().forEach(inbox::start);
                assertTimeoutPreemptively(LIMIT, () -> {
                    while (Business.effects(url) < items.size()) {
                        Thread.sleep(20);
                    }
                });
            }
        }
        assertThat(found)
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, defect.edits().size()).boxed().toList());
        assertThat(clock).as("the clock that jumps").isTrue();
    }

    /** Who was never started has no steps, and nobody looks for them. */
    private static void startedBefore(String url) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url);
                Statement statement = connection.createStatement()) {
            statement.execute("UPDATE idem_queue SET started = 1");
        }
    }

    private static Item item(int number, Mode mode, Item.Nature nature) {
        return new Item(number, mode, mode.isOrdered() ? 1 : 0, mode.isOrdered() ? 1 : 0, nature);
    }
}
