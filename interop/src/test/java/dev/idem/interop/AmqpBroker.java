package dev.idem.interop;

import jakarta.jms.ConnectionFactory;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.apache.activemq.artemis.api.core.RoutingType;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.apache.activemq.artemis.jms.client.ActiveMQJMSConnectionFactory;
import org.apache.qpid.jms.JmsConnectionFactory;

/** Artemis in this process, for producers that speak AMQP 1.0 and listeners of either client. */
record AmqpBroker(EmbeddedActiveMQ server, int port) implements AutoCloseable {
    /** With which client the listener works. */
    enum With {
        QPID,
        ARTEMIS
    }

    static AmqpBroker start() throws Exception {
        int port;
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = socket.getLocalPort();
        }
        ConfigurationImpl configuration = new ConfigurationImpl();
        configuration.setPersistenceEnabled(false);
        configuration.setSecurityEnabled(false);
        configuration.addAcceptorConfiguration("tcp", "tcp://127.0.0.1:" + port + "?protocols=CORE,AMQP");
        configuration.addAddressSetting(
                "#",
                new AddressSettings()
                        .setDefaultAddressRoutingType(RoutingType.ANYCAST)
                        .setDefaultQueueRoutingType(RoutingType.ANYCAST)
                        .setMaxDeliveryAttempts(-1));
        EmbeddedActiveMQ server = new EmbeddedActiveMQ();
        server.setConfiguration(configuration);
        server.start();
        return new AmqpBroker(server, port);
    }

    ConnectionFactory factory(With client) {
        return client == With.QPID
                ? new JmsConnectionFactory("amqp://127.0.0.1:" + port)
                : new ActiveMQJMSConnectionFactory("tcp://127.0.0.1:" + port);
    }

    @Override
    public void close() throws Exception {
        server.stop();
    }
}
