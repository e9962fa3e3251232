package dev.idem.jdbc.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import dev.idem.Consumer;
import dev.idem.Inbox;
import dev.idem.Message;
import dev.idem.PayloadDecoder;
import dev.idem.ResultCodec;
import dev.idem.jdbc.JdbcStore;
import dev.idem.queue.QueuePolicy;
import dev.idem.steps.EffectAnswer;
import dev.idem.steps.EffectKey;
import dev.idem.steps.EffectNotDoneException;
import dev.idem.steps.EffectPolicy;
import dev.idem.steps.IdempotencyHeader;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.Test;

/** The snippets of the page on steps and effects, against a provider that speaks HTTP. */
class GuideEffectsTest {
    private final JdbcDataSource dataSource = new JdbcDataSource();
    private final List<String> keys = Collections.synchronizedList(new ArrayList<>());
    private URI uri = URI.create("http://localhost");

    // region charge
    private final HttpClient http = HttpClient.newHttpClient();

    private String charge(EffectKey key, String order) throws IOException, InterruptedException {
        HttpRequest request = IdempotencyHeader.standard()
                .on(HttpRequest.newBuilder(uri), key)
                .POST(HttpRequest.BodyPublishers.ofString(order))
                .build();
        try {
            return http.send(request, HttpResponse.BodyHandlers.ofString()).body();
        } catch (ConnectException nobodyThere) { // surely nothing was done; a timeout would say nothing
            throw new EffectNotDoneException("The provider cannot be reached", nobodyThere);
        }
    }
    // endregion

    @Test
    void stepsAndEffects() throws Exception {
        dataSource.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
        try (Connection connection = dataSource.getConnection()) {
            connection.createStatement().execute("CREATE TABLE booking (what VARCHAR(100))");
        }
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", exchange -> {
            keys.add(exchange.getRequestHeaders().getFirst("Idempotency-Key"));
            byte[] answer = "receipt-1".getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, answer.length);
            exchange.getResponseBody().write(answer);
            exchange.close();
        });
        server.start();
        uri = URI.create("http://localhost:" + server.getAddress().getPort() + "/");
        Message message = Message.builder()
                .id("m-1")
                .type("OrderPlaced")
                .payload("order-1".getBytes(StandardCharsets.UTF_8))
                .build();
        // region steps
        Consumer orders = Consumer.named("orders")
                .queued(QueuePolicy.leased(Duration.ofMinutes(2)))
                .onSteps("OrderPlaced", PayloadDecoder.text(), (order, steps) -> {
                    steps.step("reserve", tx -> insert(tx.connection(), "reserved " + order));
                    String receipt = steps.effect(
                            "charge-card",
                            EffectPolicy.retryWithSameKey(),
                            ResultCodec.text(),
                            key -> charge(key, order));
                    steps.step("book", tx -> insert(tx.connection(), "booked " + receipt));
                })
                .build();
        Inbox inbox = Inbox.create(JdbcStore.create(dataSource));
        inbox.start(orders);
        inbox.accept(orders, message); // Stored: acknowledge
        // endregion
        await().atMost(Duration.ofSeconds(20))
                .until(() -> count() == 2 && inbox.queueStats("orders").inProgress() == 0);
        assertThat(count()).isEqualTo(2);
        assertThat(keys).hasSize(1).allMatch(key -> key.startsWith("idem_"));
        inbox.close();
        server.stop(0);
    }

    @Test
    void policies() {
        // region policies
        EffectPolicy<String> person = EffectPolicy.park(); // the default
        EffectPolicy<String> again = EffectPolicy.retryWithSameKey(); // the provider recognises keys
        EffectPolicy<String> asking = EffectPolicy.ask(key -> {
            String receipt = lookUp(key.value());
            return receipt == null ? EffectAnswer.notDone() : EffectAnswer.done(receipt);
        });
        // endregion
        assertThat(List.of(person, again, asking)).doesNotContainNull();
    }

    private String lookUp(String key) {
        return keys.contains(key) ? "receipt-1" : null;
    }

    private static void insert(Connection connection, String what) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("INSERT INTO booking VALUES (?)")) {
            insert.setString(1, what);
            insert.executeUpdate();
        }
    }

    private long count() throws SQLException {
        try (Connection connection = dataSource.getConnection();
                ResultSet rows = connection.createStatement().executeQuery("SELECT count(*) FROM booking")) {
            rows.next();
            return rows.getLong(1);
        }
    }
}
