package dev.idem.cli.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.idem.cli.Cli;
import dev.idem.cli.ExitCodes;
import dev.idem.servers.SkipWithoutServer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

@ExtendWith(SkipWithoutServer.class)
class DemoCommandTest {
    @ParameterizedTest
    @EnumSource
    void behindIdemNothingIsChargedTwiceOrNever(DemoStore.Kind store) {
        Cli demo = Cli.run(
                "demo", "--messages", "200", "--kills", "3", "--seed", "42", "--store", store.label(), "--json");

        assertThat(demo.code()).as(demo.err()).isZero();
        assertThat(demo.out().lines()).hasSize(1);
        JsonNode report = JsonMapper.shared().readTree(demo.lastLine());
        assertThat(report.get("messages").intValue()).isEqualTo(200);
        assertThat(report.get("deliveries").intValue()).isGreaterThan(200);
        assertThat(report.get("kills").intValue()).isEqualTo(3);
        assertThat(report.get("seed").longValue()).isEqualTo(42);
        assertThat(report.get("store").stringValue()).isEqualTo(store.label());
        assertThat(report.get("mode").stringValue()).isEqualTo("inline");
        assertThat(report.at("/idem/parked").intValue()).isZero();
        assertThat(report.get("seconds").doubleValue()).isPositive();
        assertThat(report.at("/idem/doubled").intValue()).isZero();
        assertThat(report.at("/idem/lost").intValue()).isZero();
        assertThat(report.at("/idem/duplicatesSkipped").intValue()).isPositive();
        assertThat(report.at("/naive/doubled").intValue()).isPositive();
        assertThat(report.at("/naive/lost").intValue()).isZero();
        assertThat(demo.err()).contains("seed 42", "charged exactly once");
    }

    @ParameterizedTest
    @EnumSource
    void storedMessagesAreRetriedAndOneIsParkedAndTheRestChargedOnce(DemoStore.Kind store) {
        Cli demo = Cli.run(
                "demo",
                "--mode",
                "queued",
                "--messages",
                "200",
                "--kills",
                "3",
                "--seed",
                "42",
                "--store",
                store.label(),
                "--json");

        assertThat(demo.code()).as(demo.err()).isZero();
        JsonNode report = JsonMapper.shared().readTree(demo.lastLine());
        assertThat(report.get("mode").stringValue()).isEqualTo("queued");
        assertThat(report.get("kills").intValue()).isEqualTo(3);
        assertThat(report.at("/idem/doubled").intValue()).isZero();
        assertThat(report.at("/idem/lost").intValue()).isZero();
        assertThat(report.at("/idem/parked").intValue()).isEqualTo(1);
        assertThat(report.at("/idem/failures").intValue()).isGreaterThan(4); // the parked one has its four
        assertThat(report.at("/idem/deadLettered").intValue()).isZero();
        // The one that always fails, and what was killed too often beside it: the broker counts deliveries, not
        // failures.
        assertThat(report.at("/naive/deadLettered").intValue()).isPositive();
        assertThat(demo.err()).contains("every order but the parked one was charged exactly once");
    }

    @ParameterizedTest
    @EnumSource(names = {"KAFKA", "RABBITMQ"})
    void behindTheListenerOfARealBrokerNothingIsChargedTwiceOrNever(DemoBroker.Kind broker) {
        Cli demo = Cli.run(
                "demo", "--broker", broker.label(), "--messages", "500", "--kills", "3", "--seed", "42", "--json");

        skipWithoutBroker(demo);
        assertThat(demo.code()).as(demo.err()).isZero();
        JsonNode report = JsonMapper.shared().readTree(demo.lastLine());
        assertThat(report.get("broker").stringValue()).isEqualTo(broker.label());
        assertThat(report.get("kills").intValue()).isPositive();
        assertThat(report.at("/idem/doubled").intValue()).isZero();
        assertThat(report.at("/idem/lost").intValue()).isZero();
        assertThat(report.at("/idem/duplicatesSkipped").intValue()).isPositive();
        assertThat(report.at("/naive/doubled").intValue()).isPositive();
        assertThat(report.at("/naive/lost").intValue()).isZero();
    }

    private static void skipWithoutBroker(Cli demo) {
        boolean strict = "1".equals(System.getenv("IDEM_STRICT"));
        assumeTrue(strict || !demo.err().contains("RabbitMQ is not installed: apt-get install"), demo.err());
    }

    @Test
    void failsWhenIdemIsNotInItsSeat() {
        Cli demo = Cli.run("demo", "--messages", "50", "--kills", "1", "--duplicates", "100", "--sabotage");

        assertThat(demo.code()).isEqualTo(ExitCodes.CHECK_FAILED);
        assertThat(demo.out()).contains("FAILED", "double charges", "seed");
    }
}
