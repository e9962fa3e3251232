package dev.idem.jms;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.security.CheckType;
import org.apache.activemq.artemis.core.security.Role;
import org.apache.activemq.artemis.core.server.JournalType;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressFullMessagePolicy;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.apache.activemq.artemis.spi.core.security.ActiveMQSecurityManager;

/** A broker in a process of its own, so that it can be killed. */
final class ArtemisMain {
    static final String READY = "broker is ready";

    /** Destinations whose names begin with it are not made by using them. */
    static final String CLOSED = "closed.";

    /** Destinations whose names begin with it have little room, and refuse what they have none for. */
    static final String REFUSING = "refusing.";

    /** The same, but let their producers wait. */
    static final String BLOCKING = "blocking.";

    /** A user who is refused until {@link Artemis#admit}. */
    static final String STRANGER = "stranger";

    private ArtemisMain() {}

    public static void main(String[] arguments) throws Exception {
        Path home = Path.of(arguments[0]);
        ConfigurationImpl configuration = new ConfigurationImpl();
        configuration.setPersistenceEnabled(true);
        configuration.setSecurityEnabled(true);
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
        configuration.addAddressSetting(REFUSING + "#", room(100_000, AddressFullMessagePolicy.FAIL));
        configuration.addAddressSetting(BLOCKING + "#", room(20_000, AddressFullMessagePolicy.BLOCK));
        EmbeddedActiveMQ server = new EmbeddedActiveMQ();
        server.setSecurityManager(new Doorkeeper(home.resolve(STRANGER)));
        server.setConfiguration(configuration);
        server.start();
        System.out.println(READY);
        Thread.currentThread().join();
    }

    private static AddressSettings room(long bytes, AddressFullMessagePolicy policy) {
        return new AddressSettings().setMaxSizeBytes(bytes).setAddressFullMessagePolicy(policy);
    }

    /** Lets everybody in, but the stranger only while this file exists. */
    private record Doorkeeper(Path admitted) implements ActiveMQSecurityManager {
        @Override
        public boolean validateUser(String user, String password) {
            return !STRANGER.equals(user) || Files.exists(admitted);
        }

        @Override
        public boolean validateUserAndRole(String user, String password, Set<Role> roles, CheckType checkType) {
            return validateUser(user, password);
        }
    }
}
