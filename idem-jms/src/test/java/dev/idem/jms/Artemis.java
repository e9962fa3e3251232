package dev.idem.jms;

import dev.idem.test.fault.ForkedJvm;
import jakarta.jms.Connection;
import jakarta.jms.ConnectionFactory;
import jakarta.jms.JMSException;
import jakarta.jms.Message;
import jakarta.jms.MessageConsumer;
import jakarta.jms.MessageProducer;
import jakarta.jms.QueueRequestor;
import jakarta.jms.QueueSession;
import jakarta.jms.Session;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.activemq.artemis.api.jms.management.JMSManagementHelper;
import org.apache.activemq.artemis.jms.client.ActiveMQConnectionFactory;
import org.apache.activemq.artemis.jms.client.ActiveMQJMSConnectionFactory;
import org.apache.activemq.artemis.jms.client.ActiveMQQueue;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.jspecify.annotations.Nullable;

/** A real broker of one test class. */
final class Artemis implements AutoCloseable {
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final String FILLER = "filler";
    private static @Nullable Artemis shared;

    private final Path home;
    private final int port;
    private ForkedJvm jvm;

    Artemis() throws Exception {
        home = Files.createTempDirectory("artemis");
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        restart();
    }

    /** One for all tests that neither kill nor close it. */
    static synchronized Artemis shared() throws Exception {
        Artemis known = shared;
        if (known == null) {
            known = new Artemis();
            shared = known;
        }
        return known;
    }

    /** Whether {@link ArtemisMain#STRANGER} may come in. */
    void admit(boolean welcome) throws IOException {
        Path sign = home.resolve(ArtemisMain.STRANGER);
        Files.deleteIfExists(sign);
        if (welcome) {
            Files.createFile(sign);
        }
    }

    void restart() throws Exception {
        jvm = ForkedJvm.start(
                List.of("-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"),
                ArtemisMain.class,
                home.toString(),
                Integer.toString(port));
        jvm.waitForLine(ArtemisMain.READY::equals, PATIENCE);
    }

    void kill() throws Exception {
        jvm.killHard();
    }

    /** Artemis's own protocol. */
    ConnectionFactory core() {
        return new ActiveMQJMSConnectionFactory(coreUrl());
    }

    String coreUrl() {
        return "tcp://127.0.0.1:" + port + "?callTimeout=5000&clientFailureCheckPeriod=2000&connectionTTL=5000";
    }

    /** AMQP 1.0. */
    ConnectionFactory amqp() {
        return new JmsConnectionFactory(amqpUrl());
    }

    String amqpUrl() {
        return "amqp://127.0.0.1:" + port + "?jms.requestTimeout=10000&jms.useDaemonThread=true";
    }

    /** Sends to a queue of {@link ArtemisMain#REFUSING} until it is refused. */
    void fill(String queue) throws JMSException {
        try (Connection connection = core().createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = session.createProducer(session.createQueue(queue))) {
            boolean room = true;
            while (room) {
                Message filler = session.createTextMessage("x".repeat(5_000));
                filler.setBooleanProperty(FILLER, true);
                try {
                    producer.send(filler);
                } catch (JMSException full) {
                    room = false;
                }
            }
        }
    }

    /** Sends more than there is room for to a queue of {@link ArtemisMain#BLOCKING}. */
    void block(String queue) throws JMSException {
        try (Connection connection = core().createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
                MessageProducer producer = session.createProducer(session.createQueue(queue))) {
            Message filler = session.createTextMessage("x".repeat(30_000));
            filler.setBooleanProperty(FILLER, true);
            producer.send(filler);
        }
    }

    /** Removes a queue, with what is in it. */
    void remove(String queue) throws Exception {
        Message answer = ask(question ->
                JMSManagementHelper.putOperationInvocation(question, "broker", "destroyQueue", queue, true, true));
        if (!JMSManagementHelper.hasOperationSucceeded(answer)) {
            throw new IllegalStateException("not removed: " + JMSManagementHelper.getResult(answer));
        }
    }

    /** Takes away what {@link #fill} sent, or {@link #block}. */
    void empty(String queue) throws JMSException {
        try (Connection connection = core().createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE);
                MessageConsumer fillers = session.createConsumer(session.createQueue(queue), FILLER + " = TRUE")) {
            connection.start();
            while (fillers.receiveNoWait() != null) {}
        }
    }

    /** Everything it has for a queue: waiting, being delivered, and scheduled for later. */
    long messages(String queue) throws Exception {
        return attribute(queue, "messageCount");
    }

    /** How many receive from it. */
    long consumers(String queue) throws Exception {
        return attribute(queue, "consumerCount");
    }

    private long attribute(String queue, String attribute) throws Exception {
        Message answer = ask(question -> JMSManagementHelper.putAttribute(question, "queue." + queue, attribute));
        return JMSManagementHelper.hasOperationSucceeded(answer)
                ? ((Number) JMSManagementHelper.getResult(answer)).longValue()
                : 0;
    }

    @FunctionalInterface
    private interface Question {
        void write(Message question) throws JMSException;
    }

    private Message ask(Question question) throws Exception {
        try (ActiveMQConnectionFactory factory = (ActiveMQConnectionFactory) core();
                Connection connection = factory.createConnection();
                Session session = connection.createSession(Session.AUTO_ACKNOWLEDGE)) {
            connection.start();
            QueueRequestor requestor =
                    new QueueRequestor((QueueSession) session, new ActiveMQQueue("activemq.management"));
            Message asked = session.createMessage();
            question.write(asked);
            return requestor.request(asked);
        }
    }

    @Override
    public void close() throws IOException {
        jvm.close();
    }
}
