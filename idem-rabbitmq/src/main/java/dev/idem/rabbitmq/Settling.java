package dev.idem.rabbitmq;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.Settler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Tells the broker what became of its deliveries. A copy is confirmed before its original is acknowledged: if the process
 * ends in between, both come, and the inbox knows one of them. Nothing is ever rejected or put back into the queue.
 */
final class Settling implements Settler<Incoming> {
    private static final String ORIGIN_EXCHANGE = "idem-origin-exchange";
    private static final String ORIGIN_KEY = "idem-origin-routing-key";

    /** What a letter must tell. */
    private static final Set<String> LEAST =
            Set.of("idem-consumer", "idem-reason", "idem-replay", "idem-origin-queue", Tables.LETTER);

    private static final Logger log = LoggerFactory.getLogger(RabbitListener.class);

    private final Options options;
    private final Topology topology;
    private final Publisher publisher;
    private final LazySeal seal;

    Settling(Options options, Topology topology, Publisher publisher, LazySeal seal) {
        this.options = options;
        this.topology = topology;
        this.publisher = publisher;
        this.seal = seal;
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
        List<Header> headers = letter.from(origin(delivery)).ours(message);
        headers.add(new Header(Tables.LETTER, delivery.letter()));
        letter(delivery, message, headers);
        delivery.acknowledge();
    }

    /** A message whose headers nearly fill a frame leaves little room for ours. Of what came nothing is left out. */
    private void letter(Incoming delivery, Message message, List<Header> ours) throws Exception {
        List<Header> least =
                ours.stream().filter(header -> LEAST.contains(header.name())).toList();
        for (List<Header> shorter : List.of(ours, least)) {
            try {
                publish(delivery, options.deadLetters(), delivery, message, shorter);
                return;
            } catch (IllegalArgumentException tooLong) {
                log.warn("{}: a dead letter must be shorter: {}", options.queue(), tooLong.getMessage());
            }
        }
        log.error(
                "{}: the headers of a message leave no room in a frame, so its dead letter is the bare message, which tells"
                        + " nothing about itself and is not listed among the letters",
                options.queue());
        publish(delivery, options.deadLetters(), delivery, message, List.of());
    }

    @Override
    public boolean canPostpone(Duration delay) {
        return topology.retryFor(delay).isPresent();
    }

    @Override
    public void postpone(Incoming delivery, Message message, Duration delay, int failures) throws Exception {
        if (!delivery.isHeld()) {
            return;
        }
        Target queue = topology.retryFor(delay).orElseThrow(() -> new IOException("no retry queue for " + delay));
        List<Header> ours = new ArrayList<>();
        ours.add(new Header(Tables.FAILURES, Integer.toString(failures)));
        Map<String, String> origin = origin(delivery);
        ours.add(new Header(ORIGIN_EXCHANGE, origin.getOrDefault("exchange", "")));
        ours.add(new Header(ORIGIN_KEY, origin.getOrDefault("routing-key", "")));
        publish(new Object(), queue, delivery, message, seal.get().sealed(ours, delivery.body()));
        delivery.acknowledge();
    }

    /** The message keeps its headers, except those that only we may write. */
    private void publish(Object what, Target target, Incoming delivery, Message message, List<Header> ours)
            throws Exception {
        Set<String> kept = DeadLetter.withoutOurs(message.headers()).stream()
                .map(Header::name)
                .collect(Collectors.toSet());
        var table = Tables.table(delivery.properties(), ours, kept);
        publisher.publish(what, target, Tables.copy(delivery.properties(), table), delivery.body());
    }

    /** Where the message was first published; a postponed one comes back over the default exchange. */
    private Map<String, String> origin(Incoming delivery) {
        Map<String, String> origin = new LinkedHashMap<>();
        origin.put(
                "exchange",
                delivery.ours(ORIGIN_EXCHANGE).orElse(delivery.envelope().getExchange()));
        origin.put(
                "routing-key",
                delivery.ours(ORIGIN_KEY).orElse(delivery.envelope().getRoutingKey()));
        origin.put("queue", options.queue());
        Optional<String> user = Optional.ofNullable(delivery.properties().getUserId());
        user.ifPresent(name -> origin.put("user", name));
        return origin;
    }
}
