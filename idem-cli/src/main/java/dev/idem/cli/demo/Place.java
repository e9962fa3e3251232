package dev.idem.cli.demo;

/**
 * Where a consumer finds its messages.
 *
 * @param address host and port of the broker
 * @param name of the topic and the group, or of the queue
 */
record Place(DemoBroker.Kind kind, String address, String name, int messages) {
    String line() {
        return kind + " " + address + " " + name + " " + messages;
    }

    static Place parse(String line) {
        String[] parts = line.split(" ", -1);
        return new Place(DemoBroker.Kind.valueOf(parts[0]), parts[1], parts[2], Integer.parseInt(parts[3]));
    }

    BrokerClient client() {
        return switch (kind) {
            case KAFKA -> new KafkaClient(this);
            case RABBITMQ -> new RabbitClient(this);
            case MEMORY -> throw new IllegalStateException("the broker in memory has no clients");
        };
    }
}
