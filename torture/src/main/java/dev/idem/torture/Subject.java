package dev.idem.torture;

import java.util.Locale;

/** What a campaign tries to break. */
enum Subject {
    /** The durable inbox; the campaign plays the broker, and the database is killed. */
    INBOX("jvm", "database"),
    /** The listener of Kafka, with a real broker that is killed. */
    KAFKA("consumer", "broker"),
    /** The listener of RabbitMQ, with a real broker that is killed. */
    RABBITMQ("consumer", "broker"),
    /** From one topic of Kafka through the database and an outbox to another, with a real broker that is killed. */
    PIPELINE("consumer", "broker");

    private final String worker;
    private final String server;

    Subject(String worker, String server) {
        this.worker = worker;
        this.server = server;
    }

    /** Its name on the command line. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The option that says how many processes are killed. */
    String killsOption() {
        return "--" + worker + "-kills";
    }

    /** The option that says how often the server is killed. */
    String serverKillsOption() {
        return "--" + server + "-kills";
    }

    /** What is killed besides the workers. */
    String server() {
        return server;
    }
}
