package dev.idem.test.fault;

import static dev.idem.test.fault.Direction.CLIENT_TO_SERVER;
import static dev.idem.test.fault.Direction.SERVER_TO_CLIENT;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.ConnectException;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class TcpFaultProxyTest {
    private static final int SHORT_MILLIS = 100;

    private final EchoServer server = new EchoServer();
    private final TcpFaultProxy proxy = TcpFaultProxy.to(server.port());
    private final List<Socket> clients = new ArrayList<>();

    TcpFaultProxyTest() throws IOException {}

    @AfterEach
    void stop() throws IOException {
        for (Socket client : clients) {
            client.close();
        }
        proxy.close();
        server.close();
    }

    @Test
    void forwardsBothWaysOnManyConnections() throws Exception {
        for (int i = 0; i < 20; i++) {
            connect();
        }
        for (Socket client : clients) {
            send(client, "hello");
        }
        for (Socket client : clients) {
            assertThat(read(client, 5)).isEqualTo("hello");
        }
        assertThat(proxy.connections()).isEqualTo(20);
        assertThat(proxy.openConnections()).isEqualTo(20);
        assertThat(proxy.bytes(CLIENT_TO_SERVER)).isEqualTo(100);
        assertThat(proxy.bytes(SERVER_TO_CLIENT)).isEqualTo(100);
        assertThat(proxy.faultsFired()).isZero();
    }

    @Test
    void carriesAnOrderlyEndToTheOtherSide() throws Exception {
        Socket client = connect();
        send(client, "last words");
        client.shutdownOutput();

        assertThat(read(client, 100)).isEqualTo("last words");
        assertThat(client.getInputStream().read()).isEqualTo(-1);
        Await.until("both sides closed", () -> proxy.openConnections() == 0);
        assertThat(server.ends()).containsExactly("end of stream");
    }

    @Test
    void cutResetsBothSides() throws Exception {
        Socket client = talking();
        proxy.cut();

        assertReset(client);
        Await.until("server sees it", () -> !server.ends().isEmpty());
        assertThat(server.ends()).containsExactly("reset");
        assertThat(proxy.faultsFired()).isEqualTo(1);
        assertThat(proxy.openConnections()).isZero();
        talking(); // a new connection is not harmed
    }

    @Test
    void halfCloseOfTheRepliesLeavesTheRequestsOpen() throws Exception {
        Socket client = talking();
        proxy.halfClose(SERVER_TO_CLIENT);

        assertThat(client.getInputStream().read()).isEqualTo(-1);
        send(client, "still here");
        Await.until("server gets it", () -> server.received().endsWith("still here"));
        assertThat(server.ends()).isEmpty();
    }

    @Test
    void halfCloseOfTheRequestsEndsThemForTheServer() throws Exception {
        talking();
        proxy.halfClose(CLIENT_TO_SERVER);

        Await.until("server sees the end", () -> !server.ends().isEmpty());
        assertThat(server.ends()).containsExactly("end of stream");
    }

    @ParameterizedTest
    @EnumSource
    void stallHoldsBytesBackUntilResumed(Direction direction) throws Exception {
        Socket client = talking();
        proxy.stall(direction);
        send(client, "wait");

        client.setSoTimeout(SHORT_MILLIS);
        assertThatThrownBy(() -> client.getInputStream().read()).isInstanceOf(SocketTimeoutException.class);
        assertThat(server.received().endsWith("wait")).isEqualTo(direction == SERVER_TO_CLIENT);

        proxy.resume(direction);
        client.setSoTimeout(0);
        assertThat(read(client, 4)).isEqualTo("wait");
    }

    @Test
    void delayHoldsEveryPieceForAWhile() throws Exception {
        Socket client = talking();
        proxy.delay(CLIENT_TO_SERVER, Duration.ofMillis(60));
        proxy.delay(SERVER_TO_CLIENT, Duration.ofMillis(60));

        long start = System.nanoTime();
        send(client, "slow");
        assertThat(read(client, 4)).isEqualTo("slow");
        assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThanOrEqualTo(Duration.ofMillis(120));
    }

    @Test
    void healEndsStallDelayAndTrap() throws Exception {
        Socket client = talking();
        proxy.stall(CLIENT_TO_SERVER);
        proxy.delay(SERVER_TO_CLIENT, Duration.ofDays(1));
        proxy.cutAfterBytes(SERVER_TO_CLIENT, 0);
        send(client, "well");
        proxy.heal();
        assertThat(read(client, 4)).isEqualTo("well");
    }

    @Test
    void cutsBehindExactlyTheNthByteOfTheRequest() throws Exception {
        for (int n = 0; n <= 6; n++) {
            Socket client = talking();
            String before = server.received();
            int endsBefore = server.ends().size();
            proxy.cutAfterBytes(CLIENT_TO_SERVER, n);
            send(client, "COMMIT; more");
            assertReset(client);
            Await.until("server sees the end", () -> server.ends().size() > endsBefore);
            assertThat(server.received()).isEqualTo(before + "COMMIT; more".substring(0, n));
        }
        assertThat(proxy.faultsFired()).isEqualTo(7);
    }

    @Test
    void cutsBehindExactlyTheNthByteOfTheReply() throws Exception {
        for (int n = 0; n <= 6; n++) {
            Socket client = talking();
            proxy.cutAfterBytes(SERVER_TO_CLIENT, n);
            send(client, "COMMIT; more");
            assertThat(read(client, 100)).isEqualTo("COMMIT; more".substring(0, n));
        }
    }

    @Test
    void deliversAllBytesBeforeALateCut() throws Exception {
        Socket client = connect();
        int size = 1_000_000;
        proxy.cutAfterBytes(SERVER_TO_CLIENT, size);
        Link.startDaemon(
                "writer", () -> Link.quietly(() -> client.getOutputStream().write(new byte[2 * size])));
        assertThat(client.getInputStream().readNBytes(2 * size)).hasSize(size);
    }

    @Test
    void cutsBeforeAPattern() throws Exception {
        Socket client = talking();
        proxy.cutWhen(CLIENT_TO_SERVER, "COMMIT", Cut.BEFORE);
        send(client, "INSERT; COMMIT; more");

        assertReset(client);
        Await.until("server sees the end", () -> !server.ends().isEmpty());
        assertThat(server.received()).isEqualTo("hiINSERT; ");
    }

    @Test
    void cutsAfterAPattern() throws Exception {
        Socket client = talking();
        proxy.cutWhen(CLIENT_TO_SERVER, "COMMIT", Cut.AFTER);
        send(client, "INSERT; COMMIT;");

        assertReset(client);
        Await.until("server sees the end", () -> !server.ends().isEmpty());
        assertThat(server.received()).isEqualTo("hiINSERT; COMMIT;");
    }

    @Test
    void findsAPatternThatComesInPieces() throws Exception {
        Socket client = talking();
        proxy.cutWhen(CLIENT_TO_SERVER, "COCOA".getBytes(UTF_8), Cut.BEFORE);
        for (String piece : List.of("xCO", "CO", "CO")) {
            send(client, piece);
            assertThat(read(client, piece.length())).isEqualTo(piece);
        }
        assertThat(proxy.faultsFired()).isZero();
        send(client, "A!");
        assertReset(client);
        assertThat(server.received()).isEqualTo("hixCOCOCO");
    }

    @Test
    void piecesOnDifferentConnectionsAreNoPattern() throws Exception {
        Socket one = talking();
        Socket other = talking();
        proxy.cutWhen(CLIENT_TO_SERVER, "COMMIT", Cut.BEFORE);
        send(one, "COM");
        assertThat(read(one, 3)).isEqualTo("COM");
        send(other, "MIT");
        assertThat(read(other, 3)).isEqualTo("MIT");
        send(one, "MIT");
        assertReset(one);
        send(other, "COMMIT"); // a trap strikes once
        assertThat(read(other, 6)).isEqualTo("COMMIT");
    }

    @Test
    void dropsTheReplyToAPattern() throws Exception {
        Socket client = talking();
        proxy.cutWhen(CLIENT_TO_SERVER, "COMMIT", Cut.AFTER_REPLY);
        send(client, "COM");
        assertThat(read(client, 3)).isEqualTo("COM");
        send(client, "MIT;");

        assertReset(client);
        assertThat(server.received()).as("handled before the cut").isEqualTo("hiCOMMIT;");
        assertThat(proxy.bytes(SERVER_TO_CLIENT)).isEqualTo(5);
        assertThat(proxy.faultsFired()).isEqualTo(1);
    }

    @Test
    void refusesNewConnectionsOnly() throws Exception {
        Socket old = talking();
        proxy.refuseNew();
        assertThatThrownBy(() -> read(connect(), 1)).isInstanceOf(SocketException.class);
        send(old, "fine");
        assertThat(read(old, 4)).isEqualTo("fine");
        proxy.acceptNew();
        talking();
        assertThat(proxy.connections()).isEqualTo(2);
    }

    @Test
    void resetsTheClientWhenTheServerIsAway() throws Exception {
        int nobody;
        try (var closed = new ServerSocket(0)) {
            nobody = closed.getLocalPort();
        }
        try (TcpFaultProxy toNobody = TcpFaultProxy.to(nobody);
                Socket client = new Socket("127.0.0.1", toNobody.port())) {
            assertReset(client);
        }
    }

    @Test
    void closeEndsEverything() throws Exception {
        Socket client = talking();
        proxy.stall(CLIENT_TO_SERVER);
        send(client, "never");
        proxy.close();

        assertReset(client);
        assertThat(proxy.openConnections()).isZero();
        assertThatThrownBy(this::connect).isInstanceOf(ConnectException.class);
        Await.until(
                "threads end",
                () -> Thread.getAllStackTraces().keySet().stream()
                        .noneMatch(thread -> thread.getName().startsWith("idem-proxy-" + proxy.port())));
    }

    @Test
    void refusesSenselessTraps() {
        assertThatIllegalArgumentException().isThrownBy(() -> proxy.cutAfterBytes(CLIENT_TO_SERVER, -1));
        assertThatIllegalArgumentException().isThrownBy(() -> proxy.cutWhen(CLIENT_TO_SERVER, "", Cut.AFTER));
    }

    private Socket connect() throws IOException {
        var client = new Socket("127.0.0.1", proxy.port());
        client.setSoTimeout((int) Await.LIMIT.toMillis());
        clients.add(client);
        return client;
    }

    private Socket talking() throws IOException {
        Socket client = connect();
        send(client, "hi");
        assertThat(read(client, 2)).isEqualTo("hi");
        return client;
    }

    private static void send(Socket client, String text) throws IOException {
        client.getOutputStream().write(text.getBytes(UTF_8));
    }

    private static String read(Socket client, int most) throws IOException {
        return new String(client.getInputStream().readNBytes(most), UTF_8);
    }

    private static void assertReset(Socket client) {
        assertThatThrownBy(() -> client.getInputStream().read())
                .isInstanceOf(SocketException.class)
                .hasMessageContaining("reset");
    }
}
