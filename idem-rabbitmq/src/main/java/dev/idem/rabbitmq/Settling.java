package dev.idem.rabbitmq;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Settler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * Tells the broker what became of its deliveries. A copy is confirmed before its original is acknowledged: if the process
 * ends in between, both come, and the inbox knows one of them. Nothing is ever rejected or put back into the queue.
 */
final class Settling implements Settler<Incoming> {
    private static final String ORIGIN_EXCHANGE = "idem-origin-exchange";
    private static final String ORIGIN_KEY = "idem-origin-routing-key";

    private final Options options;
    private final Topology topology;
    private final Publisher publisher;

    Settling(Options options, Topology topology, Publisher publisher) {
        this.options = options;
        this.topology = topology;
        this.publisher = publisher;
    }

    @Override
    public void acknowledge(Incoming delivery) {
        delivery.acknowledge();
    }

    @Override
    public void setAside(Incoming delivery, Message message, DeadLetter letter) throws Exception {
        if (!delivery.isHeld()) {
            return; // it comes again, is decided again, and would else leave two letters
        }
        List<Header> headers = letter.from(origin(delivery, message)).headers(message);
        headers.add(new Header(Tables.LETTER, UUID.randomUUID().toString()));
        publish(options.deadLetters, delivery, headers, names(DeadLetter.withoutOurs(message.headers())));
        delivery.acknowledge();
    }

    @Override
    public boolean postpone(Incoming delivery, Message message, Duration delay, int failures) throws Exception {
        if (!delivery.isHeld()) {
            return true;
        }
        Optional<Target> queue = topology.retryFor(delay);
        if (queue.isEmpty()) {
            return false;
        }
        List<Header> more = new ArrayList<>();
        more.add(new Header(Tables.FAILURES, Integer.toString(failures)));
        Map<String, String> origin = origin(delivery, message);
        more.add(new Header(ORIGIN_EXCHANGE, origin.getOrDefault("exchange", "")));
        more.add(new Header(ORIGIN_KEY, origin.getOrDefault("routing-key", "")));
        Set<String> kept = names(message.headers());
        kept.removeAll(Set.of(ORIGIN_EXCHANGE, ORIGIN_KEY));
        publish(queue.get(), delivery, more, kept);
        delivery.acknowledge();
        return true;
    }

    private void publish(Target target, Incoming delivery, List<Header> headers, Set<String> kept) throws Exception {
        var table = Tables.table(delivery.properties(), headers, kept);
        publisher.publish(target, Tables.copy(delivery.properties(), table), delivery.body());
    }

    /** Where the message was first published; a postponed one comes back over the default exchange. */
    private Map<String, String> origin(Incoming delivery, Message message) {
        Map<String, String> origin = new LinkedHashMap<>();
        origin.put(
                "exchange", first(message, ORIGIN_EXCHANGE, delivery.envelope().getExchange()));
        origin.put("routing-key", first(message, ORIGIN_KEY, delivery.envelope().getRoutingKey()));
        origin.put("queue", options.queue);
        Optional<String> user = Optional.ofNullable(delivery.properties().getUserId());
        user.ifPresent(name -> origin.put("user", name));
        return origin;
    }

    private static String first(Message message, String header, String otherwise) {
        List<Header> found = message.headers(header);
        return found.isEmpty() ? otherwise : found.get(0).text();
    }

    private static Set<String> names(List<Header> headers) {
        return headers.stream().map(Header::name).collect(Collectors.toSet());
    }
}
