package dev.idem.jms;

import java.nio.file.Path;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;

/** A broker in a process of its own, so that it can be killed. */
final class ArtemisMain {
    static final String READY = "broker is ready";

    /** Destinations whose names begin with it are not made by using them. */
    static final String CLOSED = "closed.";

    private ArtemisMain() {}

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        ConfigurationImpl configuration = new ConfigurationImpl();
        configuration.setPersistenceEnabled(true);
        configuration.setSecurityEnabled(false);
        configuration.setJournalType(JournalType.NIO);
        configuration.setJournalDirectory(home.resolve("journal").toString());
        configuration.setBindingsDirectory(home.resolve("bindings").toString());
        configuration.setPagingDirectory(home.resolve("paging").toString());
        configuration.setLargeMessagesDirectory(home.resolve("large").toString());
        configuration.addAcceptorConfiguration("tcp", "tcp://127.0.0.1:" + arguments[1] + "?protocols=CORE,AMQP");
        AddressSettings closed =
                new AddressSettings().setAutoCreateQueues(false).setAutoCreateAddresses(false);
        configuration.addAddressSetting(CLOSED + "#", closed);
        configuration.addAddressSetting("jms.queue." + CLOSED + "#", closed); // which its own client tries as well
        EmbeddedActiveMQ server = new EmbeddedActiveMQ();
        server.setConfiguration(configuration);
        server.start();
        System.out.println(READY);
        Thread.currentThread().join();
    }
}
