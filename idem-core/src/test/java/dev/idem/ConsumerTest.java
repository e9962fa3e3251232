package dev.idem;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.idem.internal.consumer.ConsumerPlan;
import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsumerTest {
    private static final PayloadDecoder<String> TEXT = PayloadDecoder.text();
    private static final Consumer ROUTED = Consumer.named("c")
            .on("a", TEXT, named("a"))
            .on("a", "1", TEXT, named("a1"))
            .on("b", "1", TEXT, named("b1"), ResultCodec.text())
            .build();

    @ParameterizedTest
    @ValueSource(strings = {"a", "A9", "payment-service", "team:orders/billing_v2.1", "7"})
    void goodNames(String name) {
        assertThat(Consumer.of(name).name()).isEqualTo(name);
        assertThat(Consumer.of(name)).hasToString("Consumer[" + name + "]");
        assertThat(Consumer.of(name).policy()).isSameAs(Policy.defaults());
    }

    @ParameterizedTest
    @DisplayName("SE-01 SE-07 a name can be neither SQL, nor markup, nor a path out, nor a second log line")
    @ValueSource(
            strings = {
                "",
                " ",
                "a b",
                " a",
                "a ",
                "-a",
                ".a",
                "../a",
                "/a",
                ":a",
                "_a",
                "a'b",
                "a\"b",
                "a`b",
                "a;b",
                "a--\n",
                "a\n",
                "a\r\nb",
                "a\u0000",
                "x'; DROP TABLE idem_marker; --",
                "${jndi:ldap://x}",
                "#{1+1}",
                "<script>",
                "=cmd|'/c calc'!A0",
                "a\\b",
                "a%00",
                "ä",
                "аdmin",
                "a\u200b",
                "😀",
                "a,b",
                "a=b",
                "a*",
                "a?",
                "\u001b[31m"
            })
    void badNames(String name) {
        assertThatThrownBy(() -> Consumer.of(name))
                .isInstanceOf(IllegalArgumentException.class)
                .satisfies(e -> assertThat(e.getMessage()).doesNotContainPattern("\\p{Cntrl}"));
    }

    @Test
    void aNameHasAtMost100Characters() {
        assertThat(Consumer.of("x".repeat(100)).name()).hasSize(100);
        assertThatThrownBy(() -> Consumer.of("x".repeat(101))).hasMessageContaining("1 to 100");
    }

    @Test
    void routesByTypeAndVersionThenByTypeThenByTheRest() {
        assertThat(route(ROUTED, "a", "1")).isEqualTo("a1");
        assertThat(route(ROUTED, "a", "2")).isEqualTo("a");
        assertThat(route(ROUTED, "a", null)).isEqualTo("a");
        assertThat(route(ROUTED, "b", "1")).isEqualTo("b1");
        assertThat(route(ROUTED, "b", "2")).isNull();
        assertThat(route(ROUTED, "A", "1")).isNull();
        assertThat(route(ROUTED, null, null)).isNull();

        Consumer open = Consumer.named("c")
                .on("a", "1", TEXT, named("a1"))
                .otherwise((message, tx) -> "rest")
                .build();
        assertThat(route(open, "a", "1")).isEqualTo("a1");
        assertThat(route(open, "a", "2")).isEqualTo("rest");
        assertThat(route(open, null, "1")).isEqualTo("rest");
    }

    @Test
    void twoHandlersForTheSameAreRefused() {
        Consumer.Builder builder = Consumer.named("c")
                .on("a", TEXT, named("x"))
                .on("a", "1", TEXT, named("x"))
                .otherwise((m, tx) -> 1);
        assertThatThrownBy(() -> builder.on("a", TEXT, named("y"))).hasMessageEndingWith("two handlers for type a");
        assertThatThrownBy(() -> builder.on("a", "1", TEXT, named("y"))).hasMessageContaining("type a version 1");
        assertThatThrownBy(() -> builder.otherwise((m, tx) -> 2)).hasMessageContaining("for other messages");
    }

    @Test
    @SuppressWarnings("NullAway")
    void whatIsMissingIsRefusedAtConstruction() {
        Consumer.Builder builder = Consumer.named("c");
        assertThatThrownBy(() -> builder.key(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> builder.policy(null)).isInstanceOf(NullPointerException.class);
        assertThatThrownBy(() -> builder.on(null, TEXT, named("x"))).hasMessage("type");
        assertThatThrownBy(() -> builder.on("a", null, named("x"))).hasMessage("decoder");
        assertThatThrownBy(() -> builder.on("a", TEXT, null)).hasMessage("handler");
        assertThatThrownBy(() -> builder.on("a", "1", TEXT, named("x"), null)).hasMessage("codec");
        assertThatThrownBy(() -> builder.otherwise(null)).hasMessage("handler");
    }

    @Test
    void tellsUnderWhichKeyAMessageIsKept() {
        Message message = Message.of("m-1", new byte[0]);
        assertThat(ConsumerPlan.of(ROUTED).keyOf(message))
                .hasValueSatisfying(key -> assertThat(key).hasToString("c/m-1"));
        assertThat(ConsumerPlan.of(ROUTED).keyOf(Message.builder().build())).isEmpty();
    }

    @Test
    @DisplayName("SE-06 a hundred thousand types make no more labels than there are handlers")
    void labelsAreBounded() {
        Set<String> labels = new HashSet<>();
        for (int i = 0; i < 100_000; i++) {
            labels.add(ConsumerPlan.of(ROUTED)
                    .typeLabel(Message.builder().type("type-" + i).build()));
        }
        labels.add(ConsumerPlan.of(ROUTED).typeLabel(Message.builder().build()));
        labels.add(ConsumerPlan.of(ROUTED)
                .typeLabel(Message.builder().type("a").version("9").build()));
        labels.add(ConsumerPlan.of(ROUTED).typeLabel(Message.builder().type("b").build()));
        assertThat(labels).containsExactlyInAnyOrder("other", "a", "b");
    }

    @Test
    @DisplayName(
            "RP-03 messages are not kept longer than it is known which effects they have made, unless a replay makes none")
    void keptLongerThanTheLedger() {
        assertThatThrownBy(() -> keptFor(8, Policy.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("PT192H");
        assertThatThrownBy(() -> keptFor(8, Policy.defaults().withReplay(Policy.Replay.ALLOWED)))
                .isInstanceOf(IllegalArgumentException.class);
        keptFor(7, Policy.defaults());
        keptFor(8, Policy.defaults().withWindow(Duration.ofDays(8)));
        keptFor(8, Policy.defaults().withWindowForEver());
        keptFor(8, Policy.defaults().withReplay(Policy.Replay.SUPPRESS_EFFECTS));
        keptFor(8, Policy.defaults().withReplay(Policy.Replay.FORBIDDEN));
    }

    private static void keptFor(int days, Policy policy) {
        assertThat(Consumer.named("c")
                        .policy(policy)
                        .queued(QueuePolicy.leased(Duration.ofMinutes(1)).withPayloadWindow(Duration.ofDays(days)))
                        .otherwiseSteps((message, steps) -> {})
                        .build()
                        .routes()
                        .haveSteps())
                .isTrue();
    }

    @Test
    @DisplayName("a codec whose name no column has room for is refused when the consumer is built")
    void namesOfCodecs() {
        for (String name : List.of("", "n".repeat(51), "with space", "ä")) {
            ResultCodec<String> codec = new ResultCodec<>() {
                @Override
                public String name() {
                    return name;
                }

                @Override
                public byte[] encode(String result) {
                    return new byte[0];
                }

                @Override
                public String decode(byte[] bytes) {
                    return "";
                }
            };
            assertThatThrownBy(() -> Consumer.named("c").on("a", TEXT, named("a"), codec))
                    .as(name)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("codec");
        }
    }

    private static Handler<String, String> named(String name) {
        return new Handler<>() {
            @Override
            public String handle(String event, Transaction tx) {
                return name;
            }

            @Override
            public String toString() {
                return name;
            }
        };
    }

    private static String route(Consumer consumer, String type, String version) {
        Message message = Message.builder().type(type).version(version).build();
        return ConsumerPlan.of(consumer)
                .route(message)
                .map(route -> (Route.Each<?, ?>) route)
                .map(route -> route.decoder() == TEXT ? route.handler().toString() : "rest")
                .orElse(null);
    }
}
