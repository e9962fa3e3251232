package dev.idem.rabbitmq;

import dev.idem.Header;
import dev.idem.Message;
import dev.idem.StoreException;
import dev.idem.broker.DeadLetter;
import dev.idem.broker.spi.Settler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
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
    /** What a letter must tell. */
    private static final Set<String> LEAST =
            Set.of("idem-consumer", "idem-reason", "idem-replay", "idem-origin-queue", Tables.LETTER);

    private static final Logger log = LoggerFactory.getLogger(RabbitInboxListener.class);

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
        seal(delivery).ifPresent(headers::add);
        letter(delivery, message, headers);
        delivery.acknowledge();
    }

    /** By which the queue believes the letter's origin when it is sent again; without it the letter still says all to people. */
    private Optional<Header> seal(Incoming delivery) {
        try {
            return seal.get().sealed(Origin.headers(Origin.of(delivery)), delivery.body()).stream()
                    .filter(header -> header.name().equals(Tables.SEAL))
                    .findFirst();
        } catch (StoreException away) { // a letter does not wait for it
            return Optional.empty();
        }
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
        List<Header> ours = new ArrayList<>(Origin.headers(Origin.of(delivery)));
        ours.add(new Header(Tables.FAILURES, Integer.toString(failures)));
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
        Map<String, String> origin = Origin.of(delivery);
        origin.put("queue", options.queue());
        Optional<String> user = Optional.ofNullable(delivery.properties().getUserId());
        user.ifPresent(name -> origin.put("user", name));
        return origin;
    }
}
