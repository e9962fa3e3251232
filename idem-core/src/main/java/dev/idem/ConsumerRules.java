package dev.idem;

import dev.idem.queue.QueuePolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** What a consumer cannot have together, and what to do instead. */
final class ConsumerRules {
    private final Consumer consumer;
    private final Policy policy;
    private final @Nullable QueuePolicy queue;

    private ConsumerRules(Consumer consumer) {
        this.consumer = consumer;
        this.policy = consumer.policy();
        this.queue = consumer.queue().orElse(null);
    }

    /**
     * Throws where two things contradict each other.
     *
     * @throws IllegalArgumentException saying which, and which of them to leave out
     */
    static void check(Consumer consumer, boolean keyChosen, boolean keepsResults) {
        ConsumerRules rules = new ConsumerRules(consumer);
        rules.watermark(keyChosen, keepsResults);
        rules.queue();
        rules.sequence();
        rules.steps();
    }

    private void watermark(boolean keyChosen, boolean keepsResults) {
        if (!consumer.isWatermark()) {
            return;
        }
        refuseIf(
                policy.observeOnly(),
                "has a watermark and observes only, but without markers there is nothing to observe: redelivered positions"
                        + " alone are recognised");
        refuseIf(
                keyChosen,
                "has both a key and a watermark: with a watermark the position alone tells what is done. Leave one of them"
                        + " out");
        refuseIf(
                keepsResults,
                "has a watermark and a handler whose result is kept, but without markers there is nothing to keep it with");
    }

    private void queue() {
        if (queue == null) {
            return;
        }
        refuseIf(
                consumer.isParking() && queue.isOrdered(),
                "parks what fails, so that those behind it go on, and cannot keep its queue in order as well: queue all its"
                        + " messages, or leave the order out");
        String undecided = ", but a stored message needs a marker that decides. Leave one of them out";
        refuseIf(consumer.isWatermark(), "is queued and has a watermark" + undecided);
        refuseIf(policy.observeOnly(), "is queued and observes only" + undecided);
    }

    private void sequence() {
        if (consumer.sequence().isEmpty()) {
            return;
        }
        refuseSequence(consumer.isWatermark(), "a watermark, which takes messages by their positions");
        refuseSequence(policy.observeOnly(), "only observes, which lets everything through");
        refuseSequence(
                policy.unknownType() == Policy.UnknownType.IGNORE,
                "ignores unknown types, whose versions would be missing");
        refuseSequence(consumer.isParking(), "parks what fails, behind which its stream could not go on");
        refuseSequence(queue != null && queue.isOrdered(), "orders its queue by key, which the sequence does better");
    }

    private void steps() {
        if (!consumer.routes().haveSteps()) {
            return;
        }
        QueuePolicy leased = consumer.isQueued() && queue != null && queue.isLeased() ? queue : null;
        refuseIf(
                consumer.sequence().isPresent(),
                "has a handler with steps and a sequence, but a version is applied in one transaction: publish to a consumer"
                        + " of its own from one of them");
        if (leased == null) {
            throw refused(
                    "has a handler with steps, each of which needs a transaction of its own: say queued(QueuePolicy.leased(…))");
        }
        boolean makesAgain = policy.replay() == Policy.Replay.ALLOWED || policy.replay() == Policy.Replay.UNDONE_ONLY;
        refuseIf(
                makesAgain && forgetsBefore(leased.payloadWindow()),
                "keeps messages for " + leased.payloadWindow()
                        + ", longer than it knows which effects it has made: a replay"
                        + " would make them again. Say a window of that length, or suppress the effects of replays");
    }

    private boolean forgetsBefore(Duration kept) {
        return policy.window().filter(window -> window.compareTo(kept) < 0).isPresent();
    }

    private void refuseSequence(boolean contradiction, String other) {
        refuseIf(contradiction, "has a sequence and " + other + ". Leave one of them out");
    }

    private void refuseIf(boolean contradiction, String what) {
        if (contradiction) {
            throw refused(what);
        }
    }

    private IllegalArgumentException refused(String what) {
        return new IllegalArgumentException("Consumer " + consumer.name() + " " + what);
    }
}
