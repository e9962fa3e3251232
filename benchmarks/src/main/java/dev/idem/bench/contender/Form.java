package dev.idem.bench.contender;

import dev.idem.Consumer;

/** How a handler of Idem is written. */
enum Form {
    /** For single messages, with statements of its own. */
    EACH,
    /** For single messages, handing its statements over. */
    DEFERRED,
    /** For the whole list. */
    TOGETHER;

    /** A consumer with such a handler, which tells the meter how far it is. */
    Consumer consumer(Consumer.Builder builder, Meter meter) {
        return switch (this) {
            case EACH ->
                builder.on(Delivery.TYPE, PaymentRequest::decode, (request, tx) -> {
                            meter.handling();
                            Payments.pay(tx.connection(), request);
                            meter.handled(1);
                            return request.order();
                        })
                        .build();
            case DEFERRED ->
                builder.on(Delivery.TYPE, PaymentRequest::decode, (request, tx) -> {
                            meter.handling();
                            tx.defer(Payments.INSERT, request.order(), request.cents());
                            meter.handled(1);
                            return request.order();
                        })
                        .build();
            case TOGETHER ->
                builder.onAll(Delivery.TYPE, PaymentRequest::decode, (requests, tx) -> {
                            meter.handling();
                            Payments.payAll(tx.connection(), requests);
                            meter.handled(requests.size());
                        })
                        .build();
        };
    }
}
