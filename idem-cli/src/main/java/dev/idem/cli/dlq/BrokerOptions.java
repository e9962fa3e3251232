package dev.idem.cli.dlq;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.ShutdownSignalException;
import dev.idem.IdemException;
import dev.idem.broker.Attributes;
import dev.idem.broker.DeadLetters;
import dev.idem.cli.CliException;
import dev.idem.cli.Environment;
import dev.idem.cli.Logging;
import dev.idem.cli.MissingException;
import dev.idem.cli.Nearest;
import dev.idem.cli.Printable;
import dev.idem.jms.JmsDeadLetters;
import dev.idem.jms.JmsMessages;
import dev.idem.kafka.KafkaDeadLetters;
import dev.idem.rabbitmq.RabbitDeadLetters;
import jakarta.jms.InvalidDestinationException;
import java.io.IOException;
import java.io.Reader;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.qpid.jms.JmsConnectionFactory;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Which broker, and where in it the dead letters are. */
final class BrokerOptions {
    private static final int LONGEST = 3600;
    private static final String NETWORK = "org.apache.kafka.clients.NetworkClient";
    private static final String RESET = "org.apache.kafka.clients.consumer.internals.OffsetFetcherUtils";

    @ArgGroup(exclusive = true, multiplicity = "1")
    @SuppressWarnings("NullAway.Init") // set by the parser
    Address address;

    @Option(
            names = {"--topic", "--queue"},
            required = true,
            paramLabel = "NAME",
            description = "The topic or queue of the dead letters.")
    String destination = "";

    @Option(
            names = "--broker-user",
            paramLabel = "NAME",
            description = "Account at the broker, of --rabbitmq or --jms; instead of the one in the address.")
    @Nullable
    String user;

    @Option(
            names = "--broker-password-env",
            paramLabel = "VARIABLE",
            description =
                    "The environment variable that holds its password. One in the address is seen by everybody who"
                            + " may list the processes of this machine.")
    @Nullable
    String passwordVariable;

    @Option(
            names = "--client-config",
            paramLabel = "FILE",
            description =
                    "Further settings of a Kafka client, for security and its password say, as a properties file.")
    @Nullable
    Path clientConfig;

    @Option(
            names = "--broker-timeout",
            paramLabel = "SECONDS",
            description = "How long a broker may take to answer at first; default ${DEFAULT-VALUE}.")
    int timeout = 8;

    @Spec(Spec.Target.MIXEE)
    @SuppressWarnings("NullAway.Init") // set by the parser
    CommandSpec command;

    /** The kinds of brokers. */
    static final class Address {
        @Option(names = "--kafka", paramLabel = "HOST:PORT", description = "Kafka, by its bootstrap servers.")
        @Nullable
        String kafka;

        @Option(
                names = "--rabbitmq",
                paramLabel = "URI",
                description = "RabbitMQ: amqp://host:port/vhost, amqps:// with TLS")
        @Nullable
        String rabbitmq;

        @Option(
                names = "--jms",
                paramLabel = "URI",
                description = "A Jakarta Messaging broker that speaks AMQP 1.0: amqp://host:port")
        @Nullable
        String jms;
    }

    /** Opens the letters to look at them; none can be sent. */
    DeadLetters open() throws Exception {
        return open(Set.of());
    }

    /** Opens the letters, which may be sent to these topics or queues. */
    DeadLetters open(Set<String> origins) throws Exception {
        if (timeout < 1 || timeout > LONGEST) {
            throw new ParameterException(command.commandLine(), "--broker-timeout must be 1 to " + LONGEST);
        }
        try {
            return opened(origins);
        } catch (IdemException failure) {
            if (isMissing(failure)) {
                throw new MissingException(notThere(List.of()), failure);
            }
            throw new CliException(
                    failure.getMessage() + root(failure), "Check the address and --broker-timeout", failure);
        }
    }

    private String notThere(Collection<String> others) {
        return "There is no " + (address.kafka != null ? "topic " : "queue ") + Printable.line(destination)
                + ", or this account may not see it." + Nearest.to(destination, others);
    }

    /** RabbitMQ's 404, and the condition of AMQP 1.0. */
    private static boolean isMissing(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof InvalidDestinationException
                    || (cause instanceof ShutdownSignalException closed
                            && closed.getReason() instanceof AMQP.Channel.Close why
                            && why.getReplyCode() == AMQP.NOT_FOUND)) {
                return true;
            }
        }
        return false;
    }

    private static String root(Throwable failure) {
        Throwable root = failure;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        if (root == failure) {
            return "";
        }
        return ": " + (root.getMessage() == null ? root.getClass().getSimpleName() : root.getMessage());
    }

    /** A client of Kafka waits for a topic that is not there, and for brokers, as long as for anything else; this asks first. */
    private void look(Map<String, Object> config) throws InterruptedException {
        Map<String, Object> asking = new HashMap<>(config);
        asking.put("default.api.timeout.ms", Integer.toString(timeout * 1000));
        asking.put("request.timeout.ms", Integer.toString(timeout * 1000));
        asking.keySet().retainAll(AdminClientConfig.configNames());
        Admin admin = Admin.create(asking);
        try {
            if (!admin.listTopics().names().get().contains(destination)) {
                throw new MissingException(notThere(admin.listTopics().names().get()), null);
            }
        } catch (ExecutionException failure) {
            throw new CliException(
                    "Kafka at " + address.kafka + " did not answer within " + timeout + " s" + root(failure),
                    "Check --kafka and that a broker is running there, and the file of --client-config",
                    failure);
        } finally {
            admin.close(Duration.ZERO);
        }
    }

    private DeadLetters opened(Set<String> origins) throws Exception {
        if (address.kafka != null) {
            if (user != null || passwordVariable != null) {
                throw new ParameterException(
                        command.commandLine(), "Kafka's account and password belong into the file of --client-config");
            }
            Logging.hush(RESET); // it warns of each partition that was read to its end
            Logging.hush(NETWORK); // and of each try to connect
            Map<String, Object> config = kafka(address.kafka);
            look(config);
            return KafkaDeadLetters.open(config, destination, origins);
        }
        if (address.rabbitmq != null) {
            return RabbitDeadLetters.open(rabbitmq(address.rabbitmq), destination, Attributes.defaults(), origins);
        }
        return JmsDeadLetters.open(jms(String.valueOf(address.jms)), destination, JmsMessages.reader(), origins);
    }

    private @Nullable String password() {
        return passwordVariable == null
                ? null
                : Environment.secret(passwordVariable, "leave --broker-password-env out if the broker needs none");
    }

    private JmsConnectionFactory jms(String uri) {
        JmsConnectionFactory factory;
        String connecting = "transport.connectTimeout";
        try {
            factory = new JmsConnectionFactory(
                    uri.contains(connecting)
                            ? uri
                            : uri + (uri.contains("?") ? "&" : "?") + connecting + "=" + timeout * 1000);
            factory.setConnectTimeout(timeout * 1000L);
            factory.setRequestTimeout(timeout * 1000L);
            factory.setCloseTimeout(timeout * 1000L);
        } catch (IllegalArgumentException wrong) { // its text quotes the password
            throw new ParameterException(command.commandLine(), "--jms is not an address like amqp://host:5672");
        }
        if (user != null) {
            factory.setUsername(user);
        }
        String password = password();
        if (password != null) {
            factory.setPassword(password);
        }
        return factory;
    }

    private Map<String, Object> kafka(String servers) throws IOException {
        Map<String, Object> config = new HashMap<>();
        if (clientConfig != null) {
            Properties file = new Properties();
            try (Reader reader = Files.newBufferedReader(clientConfig)) {
                file.load(reader);
            } catch (IOException unreadable) {
                throw new CliException(
                        "The file " + clientConfig + " could not be read", "Check --client-config", unreadable);
            }
            file.forEach((name, value) -> config.put(name.toString(), value));
        }
        config.put("bootstrap.servers", servers);
        return config;
    }

    private ConnectionFactory rabbitmq(String uri) throws GeneralSecurityException {
        ConnectionFactory factory = new ConnectionFactory();
        try {
            factory.setUri(uri);
            factory.setConnectionTimeout(timeout * 1000);
            factory.setHandshakeTimeout(timeout * 2000); // it waits half of that for the first answer
            factory.setChannelRpcTimeout(timeout * 1000);
        } catch (URISyntaxException | IllegalArgumentException wrong) { // its text quotes the password
            throw new ParameterException(command.commandLine(), "--rabbitmq is not an address like amqp://host:5672");
        }
        if (user != null) {
            factory.setUsername(user);
        }
        String password = password();
        if (password != null) {
            factory.setPassword(password);
        }
        return factory;
    }
}
