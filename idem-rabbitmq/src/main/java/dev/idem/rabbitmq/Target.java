package dev.idem.rabbitmq;

/**
 * Where to publish.
 *
 * @param exchange empty for the default exchange, whose routing keys are names of queues
 */
record Target(String exchange, String routingKey) {

    static Target queue(String name) {
        return new Target("", name);
    }

    @Override
    public String toString() {
        return exchange.isEmpty()
                ? "queue " + routingKey
                : "exchange " + exchange + " with routing key '" + routingKey + "'";
    }
}
