package dev.idem.steps;

import java.net.http.HttpRequest;
import java.util.Objects;
import java.util.function.BiConsumer;

/**
 * Sends the key of an effect along with an HTTP request, as the header that providers look for. Immutable and thread-safe.
 *
 * <pre>{@code
 * HttpRequest request = IdempotencyHeader.standard().on(HttpRequest.newBuilder(uri), key).POST(body).build();
 * }</pre>
 *
 * @param name of the header
 */
public record IdempotencyHeader(String name) {
    public IdempotencyHeader {
        Objects.requireNonNull(name, "name");
    }

    /** {@code Idempotency-Key}, as most providers call it. */
    public static IdempotencyHeader standard() {
        return new IdempotencyHeader("Idempotency-Key");
    }

    /** Some providers have a name of their own for it, {@code PayPal-Request-Id} say. */
    public static IdempotencyHeader named(String name) {
        return new IdempotencyHeader(name);
    }

    /** Sets the header of a request of {@link java.net.http.HttpClient}; answers the same builder. */
    public HttpRequest.Builder on(HttpRequest.Builder request, EffectKey key) {
        return request.setHeader(name, key.value());
    }

    /** The same for any other client: gives the header's name and value to whatever sets headers there. */
    public void on(BiConsumer<String, String> headers, EffectKey key) {
        headers.accept(name, key.value());
    }
}
